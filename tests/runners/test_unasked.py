"""Public names of which nobody spoke stay what they are: seen in the source, and measured at the base and in the tree."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.verification.source.out_of_scope_changes import (
    RequestedScope,
    out_of_scope_behaviour,
    out_of_scope_changes,
)

BASE = '''LIMIT = 80
NAMES = {"a": 1}

def fade(text: str, mark: str = "...") -> str:
    """Fade."""
    return text.lower() + mark

def initials(text: str) -> str:
    return "".join(word[0] for word in text.split())

class Box:
    def open(self, key): return key
'''
ASKED = RequestedScope(symbols=(Symbol(name="slug", file="kit.py", kind="function"),), told="add slug(text)")
LOST = {
    "a function is gone": (BASE.replace("def fade", "def _fade"), "fade is gone"),
    "a method is gone": (BASE.replace("def open", "def _open"), "Box.open is gone"),
    "a default": (BASE.replace('"..."', '"!"'), "the default of mark"),
    "a parameter": (BASE.replace(', mark: str = "..."', "").replace(" + mark", ""), "the parameter mark is gone"),
    "a needed parameter": (BASE.replace("(self, key)", "(self, key, lid)"), "has no default"),
    "a constant": (BASE.replace("80", "8"), "LIMIT was 80 and is 8"),
    "an entry": (BASE.replace('{"a": 1}', '{"a": 2}'), "NAMES was"),
}
KEPT = {
    "more entries": BASE.replace('{"a": 1}', '{"a": 1, "b": 2}'),
    "an optional parameter": BASE.replace("(self, key)", "(self, key, lid=None)"),
    "moved and imported": BASE.replace("def fade", "from other import fade\ndef _fade"),
    "another docstring": BASE.replace("Fade.", "Let a text fade."),
    "one more function": BASE + "def slug(text): return text\n",
}


def _changes(source, asked=ASKED):
    return out_of_scope_changes(
        ["kit.py"], before=lambda _: BASE.encode(), after=lambda _: source.encode(), asked=asked
    )


@pytest.mark.parametrize(("source", "told"), LOST.values(), ids=LOST)
def test_a_public_name_that_is_not_what_it_was_is_found(source, told):
    assert [told in one for one in _changes(source)] == [True]


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_what_callers_cannot_notice_is_left_alone(source):
    assert _changes(source) == ()


def test_an_entry_that_names_what_is_declared_changes_with_it():
    before = 'METHODS = {"size": "size", "drain": "drain"}\nSKIPPED = [("class", "kit.Queue.drain"), ("class", "kit.Other")]\n'
    asked = RequestedScope(symbols=(Symbol(name="Queue.drain", file="kit.py", kind="method"),), told="take it out")

    def found(after):
        return out_of_scope_changes(
            ["m.py"], before=lambda _: before.encode(), after=lambda _: after.encode(), asked=asked
        )

    assert found(before.replace('"drain": "drain"', '"drain": "take_all"')) == ()
    assert found(before.replace('("class", "kit.Queue.drain"), ', "")) == ()
    assert ["METHODS" in one for one in found(before.replace('"size": "size"', '"size": "length"'))] == [True]
    assert ["SKIPPED" in one for one in found(before.replace(', ("class", "kit.Other")', ""))] == [True]


def test_what_was_asked_for_is_no_finding():
    source = LOST["a function is gone"][0]
    assert _changes(source, RequestedScope(symbols=ASKED.symbols, told="remove fade")) == ()
    assert (
        _changes(source, RequestedScope(symbols=(Symbol(name="fade", file="kit.py", kind="function"),), told="")) == ()
    )
    assert _changes(source, RequestedScope(symbols=(), told="")) == ()


@pytest.mark.parametrize(
    "told", ["raise the size limit to 90", "raise the size-limit", "SIZE_LIMIT is too small", "Size limits"]
)
def test_a_name_may_be_spoken_of_in_words(told):
    source, asked = "SIZE_LIMIT = 80\nASIDE = 1\n", RequestedScope(symbols=ASKED.symbols, told=told)
    texts = {"before": source.encode(), "after": source.replace("80", "90").replace("= 1", "= 2").encode()}
    found = out_of_scope_changes(
        ["kit.py"], before=lambda _: texts["before"], after=lambda _: texts["after"], asked=asked
    )
    assert ["ASIDE" in one for one in found] == [True]


def test_what_declared_functions_use_or_used_is_part_of_the_change():
    before = BASE + "def slug(text): return fade(text)[:LIMIT]\n"
    after = LOST["a parameter"][0].replace("80", "8") + "def slug(text): return text\n"
    texts = {"before": before.encode(), "after": after.encode()}
    found = out_of_scope_changes(
        ["kit.py"], before=lambda _: texts["before"], after=lambda _: texts["after"], asked=ASKED
    )
    assert found == ()


def test_what_declared_functions_use_of_another_module_is_part_of_the_change():
    old = {
        "kit.py": "import calc\ndef slug(text): return calc.cut(text)\n",
        "calc.py": "def cut(text, end='.'): return text\n",
    }
    new = {**old, "calc.py": "def cut(text, end='!'): return text\n"}
    texts = {"old": old, "new": new}
    read = {name: lambda path, name=name: texts[name].get(path, "").encode() for name in texts}
    assert out_of_scope_changes(["calc.py"], before=read["old"], after=read["new"], asked=ASKED) == ()
    new["kit.py"] = old["kit.py"] = "def slug(text): return text\n"
    assert len(out_of_scope_changes(["calc.py"], before=read["old"], after=read["new"], asked=ASKED)) == 1


@pytest.fixture(scope="module")
def compared(project):
    """Compare undeclared functions of a small project at its base and with another text."""
    made = project(
        {
            "kit.py": BASE,
            "tests/test_kit.py": "from kit import initials\n\ndef test_it():\n    assert initials('AB CD') == 'AC'\n",
        }
    )
    base = made.tree()

    def compare(source, asked=ASKED):
        tree = made.tree({"kit.py": source})
        return out_of_scope_behaviour(made.rig(), base_tree=base, tree=tree, changed=["kit.py"], asked=asked)

    return compare


def test_a_neighbour_that_answers_otherwise_is_found_and_the_same_in_other_words_is_not(compared):
    assert compared(BASE.replace("word[0] for", "word[:1] for")) == ()
    (found,) = compared(BASE.replace("word[0] for", "word[0].upper() for"))
    assert found.startswith("kit.py: initials(") and "and nobody spoke of it" in found


def test_a_function_that_the_declared_one_calls_is_part_of_the_change(compared):
    changed = BASE.replace("word[0] for", "word[0].upper() for") + "def slug(text): return initials(text)\n"
    assert compared(changed) == ()


def test_nothing_is_run_where_no_function_was_rewritten(compared):
    assert compared(BASE + "def slug(text): return text\n") == ()
