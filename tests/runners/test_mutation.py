"""Mutants of a source: which are made, which are not, and the choice among them."""

from __future__ import annotations

import pytest

from agentforge.languages.python.mutants import python_mutants
from agentforge.verification.counterexamples.mutant_score import choose

EVERY_LINE = (1 << 300) - 1


def made(source: str) -> set[tuple[str, str]]:
    return {(one.before, one.after) for one in python_mutants("a.py", source.encode(), lines=EVERY_LINE)}


@pytest.mark.parametrize(
    ("source", "before", "after"),
    [
        ("x = a < b", "a < b", "(a <= b)"),
        ("x = a and b", "a and b", "(a or b)"),
        ("x = a + b", "a + b", "(a - b)"),
        ("x = 41", "41", "42"),
        ("x = f(True)", "True", "False"),
        ("x = not a", "not a", "(a)"),
        ("def f():\n    return a", "return a", "return None"),
        ("f(x)", "f(x)", "pass"),
        ("self.a = 1", "self.a = 1", "pass"),
        ("if a:\n    b()", "a", "(not (a))"),
        ("for i in range(n):\n    f()", "n", "(n) - 1"),
        ("x = a[:n]", "n", "(n) + 1"),
        ("raise KeyError(a)", "KeyError(a)", "RuntimeError('mutated')"),
        ("try:\n    f()\nexcept E:\n    g()", "g()", "raise"),
        ("def f(a=3):\n    pass", "3", "4"),
        ("@register\ndef f():\n    pass", "register", "(lambda decorated: decorated)"),
        ("async def f():\n    await g()", "await g()", "(g())"),
        ("while a:\n    break", "break", "continue"),
        ("x = f(a) if a > 9 else a", "f(a) if a > 9 else a", "(f(a))"),
        ("x = f(a) if a > 9 else a", "f(a) if a > 9 else a", "(a)"),
        ("x = a and b or c", "a and b or c", "((a and b))"),
        ("x = a and b or c", "a and b or c", "((c))"),
        ("x = [one for one in rows if one.ok]", "one.ok", "True"),
        ("if a > 9:\n    b()", "a > 9", "True"),
        ("x = {Kind.A: f, Kind.B: g}[kind]", "{Kind.A: f, Kind.B: g}", "{Kind.A: f}"),
    ],
)
def test_each_operator_makes_its_mutant(source: str, before: str, after: str) -> None:
    assert (before, after) in made(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "logger.info('words', 3)",
        "print('words')",
        "def __repr__(self):\n    return 'x' + self.y",
        "x: Literal['a', 3]",
        "if TYPE_CHECKING:\n    import a\n    x = 3",
        "__all__ = ['a']",
        "import os",
        "if __name__ == '__main__':\n    main()",
        "class A:\n    @staticmethod\n    def f():\n        pass",
        "T = TypeVar('T', bound='Kit')",
        "UserId = typing.NewType('UserId', int)",
    ],
)
def test_what_changes_no_behaviour_is_left_alone(source: str) -> None:
    assert made(source) == set()


@pytest.mark.parametrize(
    ("source", "never"),
    [
        ("def f():\n    return False", ("return False", "return None")),
        ("x = ord(c) < 128", ("128", "129")),
        ("x = n >= 3", ("3", "4")),
        ("x = 3 > n", ("3", "4")),
        ("x = 3 <= n", ("3", "4")),
        ("x = cast('Kit', f(3))", ("'Kit'", "'KitX/X'")),
    ],
)
def test_what_nobody_could_tell_from_the_original_or_from_another_mutant_is_not_made(
    source: str, never: tuple[str, str]
) -> None:
    assert never not in made(source)
    assert made(source)


def test_a_whole_number_is_one_off_where_no_comparison_gives_the_same() -> None:
    assert ("3", "4") in made("x = n > 3") and ("3", "4") in made("x = n == 3") and ("3", "4") in made("x = 3 < n")


def test_words_for_people_are_left_alone() -> None:
    assert not any("words" in before for before, _ in made("add('--x', help='words')") if before.startswith("'words"))
    assert ("'words'", "'wordsX/X'") not in made("raise E('words')")


def test_only_changed_lines_are_mutated() -> None:
    source = b"a = 1\nb = 2\nc = 3\n"
    assert [one.line for one in python_mutants("a.py", source, lines=1 << 2)] == [2]
    assert python_mutants("a.py", b"def (", lines=EVERY_LINE) == ()


def test_the_choice_follows_the_seed_and_functions_take_turns() -> None:
    body = "".join(f"    x = x + {number}\n" for number in range(30))
    source = f"def long(x):\n{body}    return x\n\n\ndef short(y):\n    return y * 2\n".encode()
    every = python_mutants("a.py", source, lines=EVERY_LINE)
    first = choose(every, seed=7, most=6)
    assert first == choose(every, seed=7, most=6)
    assert first != choose(every, seed=8, most=6)
    assert {one.owner for one in first} == {"long", "short"}
    assert len(choose(every, seed=7, most=1000)) == len(every)


def test_of_a_line_the_branches_are_chosen_first() -> None:
    source = b"def f(a, b):\n    return g(a, 1, 2, 3, 4, 5) if a > 7 else h(b, 1, 2, 3, 4, 5)\n"
    every = python_mutants("a.py", source, lines=EVERY_LINE)
    for seed in range(5):
        assert [one.kind for one in choose(every, seed=seed, most=2)] == ["branch", "branch"]


@pytest.mark.parametrize("words", ["words", "Wörter"])
def test_a_mutant_is_the_whole_file_with_one_place_changed_and_can_be_compiled(words: str) -> None:
    head, tail = f"import a\n\nb = '{words}'\n\n\n", "\n\nif b:\n    c = 8\n"
    source = f"{head}@register(3)\n@twice\ndef f(x=1):\n    return x * (2 if x else 5)\n{tail}".encode()
    found = python_mutants("a.py", source, lines=0b11_1100_0000)
    assert {one.line for one in found} == {6, 7, 8, 9}
    for one in found:
        assert one.data.startswith(head.encode()) and one.data.endswith(tail.encode())
        compile(one.data, "a.py", "exec")


def test_what_cannot_be_compiled_is_no_mutant() -> None:
    source = (
        b"a = 1\n\n\nasync def f(x):\n    return [await one for one in x]\n\n\ndef g(x):\n    while x:\n        break\n"
    )
    assert all(compile(one.data, "a.py", "exec") for one in python_mutants("a.py", source, lines=EVERY_LINE))
    assert ("break", "continue") in made(source.decode())
