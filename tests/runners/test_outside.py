"""Facts from outside the test runner: targets that need no change, assertions that never ran, and nothing for honest work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.languages.python.stubs import python_null
from agentforge.languages.stub_values import NullWay
from agentforge.languages.symbols import Symbol
from agentforge.testing.cache import ResultCache
from agentforge.verification.examples.claims import Claim
from agentforge.verification.stages.plain_process_checks import Outside, measure_outside
from agentforge.workspace.sandbox.box import choose

BASE = {"kit.py": "def old():\n    return 1\n", "tests/test_kit.py": "def test_old(): assert True\n"}
NEW = BASE["kit.py"] + "\n\ndef words(text):\n    return text.split()\n"
PATH = "tests/test_new.py"
HEAD = "from kit import words\n\n\n"
TESTS = {
    "test_words": "def test_words():\n    assert words('a b') == ['a', 'b']\n",
    "test_loop": "def test_loop():\n    for one in words('a'):\n        assert one == 'a'\n",
    "test_hollow": "def test_hollow():\n    text = 'a'\n    assert text.upper() == 'A'\n",
}


@pytest.fixture(scope="module")
def outside(project):
    """Measure a change with some tests from outside the runner."""
    made = project(BASE)
    base = made.tree()
    cache = ResultCache(made.scratch / "cache")

    def measure(*names, source=NEW, claims=(), content=(), rows=()):
        tree = made.tree({"kit.py": source, PATH: HEAD + "\n\n".join(TESTS[name] for name in names)})
        given = Outside(
            claims=claims, symbols=(Symbol(name="words", file="kit.py", kind="function"),),
            targets=[f"{PATH}::{name}{row}" for name in names for row in [f"[{one}]" for one in rows] or [""]], content=[f"{PATH}::{name}" for name in content],
        )  # fmt: skip
        return measure_outside(made.rig(cache=cache), given, base_tree=base, tree=tree)

    return measure


def test_honest_work_gives_no_finding_and_is_measured_once(outside, monkeypatch):
    claims = (Claim(call="words('c d')", returns="['c', 'd']", hidden=True),)
    expected = {"held_out": {"checked": 1, "failed": [], "unchecked": [], "notes": []}, "tests_too_weak": []}
    first = outside("test_words", "test_loop", claims=claims)
    assert first == expected
    monkeypatch.setattr("agentforge.verification.stages.plain_process_checks.check_claims", None)
    assert outside("test_words", "test_loop", claims=claims) == first


def test_a_target_that_needs_no_change_is_too_weak(outside):
    facts = outside("test_words", "test_hollow")
    assert [(row["id"].partition("::")[2], row["text"]) for row in facts["tests_too_weak"]] == [
        ("test_hollow", "passes though every changed function returns a wrong value: it does not test the change")
    ]


def test_what_red_accepted_knowing_that_a_wrong_implementation_satisfies_it_is_no_finding_of_green(outside):
    assert outside("test_words", "test_hollow", content=("test_hollow",))["tests_too_weak"] == []


def test_code_that_makes_every_test_pass_from_its_import_shows_when_the_change_is_wrong(outside):
    forced = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
    facts = outside("test_words", source=forced + NEW)
    assert [row["id"] for row in facts["tests_too_weak"]] == [f"{PATH}::test_words"]


@pytest.mark.parametrize(
    "more",
    ["LIMIT = 3\n", "class Odd(ValueError):\n    def say(self):\n        return 1\n", "NAMES = []\nNAMES.append('a')\n",
     "import functools\n\n\n@functools.cache\ndef more():\n    return 1\n"],
    ids=["constant", "base class", "registered", "decorator"],
)  # fmt: skip
def test_a_change_that_is_partly_data_is_left_to_the_other_controls(outside, more):
    assert outside("test_hollow", source=f"{NEW}\n\n{more}")["tests_too_weak"] == []


def test_a_field_that_another_class_had_already_is_data_as_well(outside):
    field = "class A:\n    note: str = ''\n    def say(self):\n        return 1\n\n\nclass B:\n{}    def say(self):\n        return 2\n"
    old = field.format("")
    assert (
        python_null("kit.py", old.encode(), field.format("    note: str = ''\n").encode(), way=NullWay(seed="1"))
        is None
    )
    assert python_null("kit.py", old.encode(), old.replace("return 2", "return 3").encode(), way=NullWay(seed="1"))


def test_what_was_taken_away_may_satisfy_a_target(outside):
    assert outside("test_hollow", source=NEW.replace("def old():\n    return 1\n", ""))["tests_too_weak"] == []


def test_an_interpreter_that_cannot_run_such_checks_is_said_and_blamed_on_nobody(project, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such thing >&2\nexit 2\n")
    broken.chmod(0o755)
    made = project(BASE)
    tree = made.tree({"kit.py": NEW})
    rig = replace(made.rig(), plan=replace(made.plan, interpreter=str(broken)), sandbox=choose("none"))
    symbols = (Symbol(name="words", file="kit.py", kind="function"),)
    given = Outside(claims=(Claim(call="words('a')", returns="['a']"),), symbols=symbols)
    facts = measure_outside(rig, given, base_tree=tree, tree=tree)
    assert facts["held_out"] == {
        "checked": 0,
        "failed": [],
        "unchecked": [f"{broken} cannot run checks: no such thing"],
    }
