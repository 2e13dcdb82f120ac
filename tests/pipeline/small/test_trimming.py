"""What is left out of a sample: branches that no example reaches, and only where nothing depends on them."""

from __future__ import annotations

import ast

from agentforge.pipeline.small_models.generation.dead_code import _same_where_reached, trimmed

EARLY = "def f(rows):\n    n = len(rows)\n    if n == 1:\n        one = n > 1\n        return one\n    return n > 2\n"


def run(text: str) -> list[str]:
    """What the text gives for three calls."""
    found: dict[str, object] = {}
    exec(compile(ast.parse(text), "x", "exec"), found)
    told = []
    for rows in ([], [1], [1, 2, 3]):
        try:
            told.append(repr(found["f"](rows)))  # type: ignore[operator]
        except RecursionError as exc:
            told.append(f"raises {type(exc).__name__}")
    return told


def test_a_branch_that_changes_nothing_is_left_out() -> None:
    lines = frozenset({4, 5})
    shorter = trimmed(EARLY, "f", lines)
    assert shorter == "def f(rows):\n    n = len(rows)\n    return n > 2\n"
    assert _same_where_reached(EARLY, shorter, "f", lines, run)


def test_a_branch_that_answers_something_else_is_not() -> None:
    text = EARLY.replace("n > 1", "n + 6")
    assert not _same_where_reached(text, trimmed(text, "f", frozenset({4, 5})), "f", frozenset({4, 5}), run)


def test_nothing_is_known_where_no_call_reaches_the_branch() -> None:
    text = EARLY.replace("n == 1", "n == 77")
    assert not _same_where_reached(text, trimmed(text, "f", frozenset({4, 5})), "f", frozenset({4, 5}), run)


def test_other_branches_handlers_and_blocks_that_lose_everything() -> None:
    text = (
        "class A:\n    def f(self, x):\n        if x:\n            y = 1\n        else:\n            y = len(x) + 2\n"
        "        try:\n            z = int(y)\n        except ValueError:\n            z = y * 7\n"
        "        for _ in x:\n            if _ == z:\n                z = z + 9\n        return z\n"
    )
    told = trimmed(text, "A.f", frozenset({6, 10, 13}))
    assert told == (
        "class A:\n    def f(self, x):\n        y = 1\n        z = int(y)\n        for _ in x:\n            pass\n"
        "        return z\n"
    )
    assert trimmed(text, "A.f", frozenset({14})) == ""
    assert trimmed(text, "A.g", frozenset({6})) == ""
