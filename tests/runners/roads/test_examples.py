"""Examples of documents and docstrings, run in real processes on real trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentforge.verification.roads.examples import look_at_examples

if TYPE_CHECKING:
    from tests.runners.conftest import Project

_KIT = '''"""Sums."""


def add(left, right):
    """Add two numbers."""
    return left + right
'''
_FILES = {"kit.py": _KIT, "README.md": "# Kit\n", "tests/test_kit.py": "def test_nothing():\n    assert 1\n"}


def looked(project: Callable[..., Project], path: str, text: str, **others: str) -> tuple[int, list[str], list[str]]:
    """How many examples were run, and what is wrong and what could not be borne out, after a change of one file."""
    made = project({**_FILES, **others})
    base, tree = made.tree(), made.tree({path: text})
    found = look_at_examples(made.rig(), base_tree=base, tree=tree, paths=[path])
    return (
        found.run,
        [f"{one.path}:{one.line} {one.why}" for one in found.wrong],
        [f"{one.path}:{one.line} {one.why}" for one in found.aside],
    )


def test_examples_that_give_what_they_say_are_counted(project: Callable[..., Project]) -> None:
    text = "# Kit\n\n```python\n>>> from kit import add\n>>> add(1, 2)\n3\n>>> add('a', 1)\nTraceback (most recent call last):\n"
    text += "TypeError: can only concatenate\n```\n"
    assert looked(project, "README.md", text) == (3, [], [])


def test_another_result_than_the_shown_one_is_wrong_and_so_is_a_name_that_is_not_there(
    project: Callable[..., Project],
) -> None:
    text = "# Kit\n\n```pycon\n>>> from kit import add\n>>> add(1, 2)\n4\n```\n"
    assert looked(project, "README.md", text) == (2, ["README.md:5 `add(1, 2)` gives 3, and 4 is shown"], [])
    count, wrong, _ = looked(project, "README.md", "# Kit\n\n>>> from kit import total\n")
    assert count == 1
    assert wrong[0].startswith("README.md:3 `from kit import total` raises ImportError: cannot import name 'total'")
    _, wrong, _ = looked(project, "README.md", "# Kit\n\n>>> import kit\n>>> kit.add(1)\n")
    assert wrong[0].startswith(
        "README.md:4 `kit.add(1)` raises TypeError: add() missing 1 required positional argument"
    )


def test_what_a_document_does_not_bring_is_no_fault(project: Callable[..., Project]) -> None:
    for text in (
        ">>> client.get('https://example.org')\n<Response 200>\n",
        ">>> open('/nothing/there').read()\n'text'\n",
        ">>> import nothing_of_the_kind\n",
        ">>> import time\n>>> time.time_ns()\n123\n",
        ">>> from kit import add\n>>> add(1, 2)\n",
        ">>> pip install kit\n",
    ):
        _, wrong, aside = looked(project, "README.md", f"# Kit\n\n{text}")
        assert wrong == [], text
        assert len(aside) == 1, text


def test_an_example_that_was_wrong_at_the_base_is_the_base_s_business(project: Callable[..., Project]) -> None:
    old = "# Kit\n\n>>> 1 + 1\n3\n"
    assert looked(project, "README.md", old + "\nMore words.\n", **{"README.md": old}) == (1, [], [])


def test_docstrings_are_run_where_they_are_not_what_they_were(project: Callable[..., Project]) -> None:
    right = _KIT.replace("Add two numbers.", "Add two numbers.\n\n    >>> add(2, 3)\n    5\n    ")
    assert looked(project, "kit.py", right) == (1, [], [])
    assert looked(project, "kit.py", right.replace("    5\n", "    6\n"))[1] == [
        "kit.py:7 `add(2, 3)` gives 5, and 6 is shown"
    ]
    assert looked(project, "kit.py", right + "\n\nMORE = 1\n", **{"kit.py": right.replace("5", "6")})[0] == 1
    assert looked(project, "kit.py", right + "\n\nMORE = 1\n", **{"kit.py": right})[0] == 0


def test_a_skipped_example_is_not_run(project: Callable[..., Project]) -> None:
    assert looked(project, "README.md", "# Kit\n\n>>> 1 + 1  # doctest: +SKIP\n3\n") == (0, [], [])
