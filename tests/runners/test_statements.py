"""Statements as what can be executed."""

from __future__ import annotations

import pytest

from agentforge.verification.stages.statements import body_of, branches_not_taken, new_ones, statements

SOURCE = b'''"""Doc."""
import os


@mark
def f(a):
    """Doc."""
    if not a:
        return None
    if a > 9:
        text = f"too much: {a}"
        raise ValueError(text)
    for one in a:
        use(
            one,
        )
    return a


class C:
    x = 1

    def __repr__(self):
        return str(self.x)


if __name__ == "__main__":
    f(1)
'''


def test_a_statement_is_its_own_lines_without_its_body() -> None:
    found = {(one.first, one.last) for one in statements("a.py", SOURCE)}
    assert {(2, 2), (5, 6), (8, 8), (9, 9), (10, 10), (13, 13), (14, 16), (17, 17)} <= found


def test_what_refuses_or_gives_nothing_is_inert() -> None:
    inert = {one.first for one in statements("a.py", SOURCE) if one.inert}
    assert {8, 9, 11, 12, 17, 24, 28} <= inert
    assert not {13, 14} & inert


@pytest.mark.parametrize(
    ("handler", "weighs"),
    [
        ("except:\n        pass", True),
        ("except Exception:\n        return ''", True),
        ("except (KeyError, BaseException):\n        return None", True),
        ("except KeyError:\n        return ''", False),
        ("except Exception:\n        log.exception('no')\n        return ''", False),
        ("except Exception as exc:\n        return exc", False),
        ("except Exception:\n        raise", False),
    ],
)
def test_a_handler_that_takes_every_error_and_says_nothing_has_weight(handler: str, weighs: bool) -> None:
    source = f"def f(a):\n    try:\n        return g(a)\n    {handler}\n".encode()
    assert (4 in {one.first for one in statements("a.py", source) if not one.inert}) is weighs


@pytest.mark.parametrize(
    ("imported", "condition", "inert"),
    [
        ("import typing as t", "t.TYPE_CHECKING", True),
        ("import typing", "not typing.TYPE_CHECKING", True),
        ("from typing import TYPE_CHECKING", "TYPE_CHECKING", True),
        ("from typing import TYPE_CHECKING as typed", "typed", True),
        ("import sys as system", "system.version_info < (3, 8)", True),
        ("from sys import version_info", "version_info[0] == 2", True),
        ("TYPE_CHECKING = False", "TYPE_CHECKING", True),
        ("TYPE_CHECKING = True", "TYPE_CHECKING", False),
        ("TYPE_CHECKING = False; TYPE_CHECKING = load()", "TYPE_CHECKING", False),
        ("import kit as t", "t.TYPE_CHECKING", False),
        ("from .typing import TYPE_CHECKING", "TYPE_CHECKING", False),
        ("import typing as t", "t.cast(str, a)", False),
    ],
)
def test_code_for_type_checkers_or_another_python_is_inert_as_the_file_spells_it(
    imported: str, condition: str, inert: bool
) -> None:
    source = f"{imported}\nif {condition}:\n    wipe()\n".encode()
    assert [one.inert for one in statements("a.py", source) if one.first == 3] == [inert]


@pytest.mark.parametrize("line", ["return True", "return load()", "wipe(path)", "path = other", "return a + 1"])
def test_what_does_something_is_not_inert(line: str) -> None:
    source = f"def f(a):\n    if a:\n        {line}\n    return a\n".encode()
    assert [one.first for one in statements("a.py", source) if one.inert] == [4]


@pytest.mark.parametrize(
    ("handler", "inert"),
    [
        ("beside.unlink()\n        raise", True),
        ("beside.unlink()\n        raise ValueError", False),
        ("a = go(a)\n        raise", False),
        ("return beside.unlink()", False),
    ],
)
def test_a_handler_that_cleans_up_and_raises_again_is_inert(handler: str, inert: bool) -> None:
    source = f"def f(a):\n    try:\n        go(a)\n    except OSError:\n        {handler}\n".encode()
    assert (5 in {one.first for one in statements("a.py", source) if one.inert}) is inert


def test_moved_statements_are_not_new() -> None:
    before = statements("a.py", b"def f(a):\n    x = a + 1\n    return g(x)\n")
    after = statements("b.py", b"def h(a):\n    return g(x)\n\n\ndef k(a):\n    x = a + 2\n")
    assert [one.first for one in new_ones(after, before)] == [1, 5, 6]


def test_a_renamed_statement_has_the_shape_that_it_had() -> None:
    before = statements("a.py", b"total = add(first, 1)\n", nameless=True)
    assert not list(new_ones(statements("a.py", b"total_sum = plus(first_one, 1)\n", nameless=True), before))
    assert list(new_ones(statements("a.py", b"total_sum = plus(first_one, 2)\n", nameless=True), before))


def test_the_body_of_a_method_is_found() -> None:
    assert body_of(SOURCE, "C.__repr__") == 1 << 24
    assert body_of(SOURCE, "nothing") == 0
    assert statements("a.py", b"def (") == ()


OLD_PYTHON = b"""from compat import PY2
if PY2:
    def single(func):
        return 1
else:
    def single(func):
        return 2
"""
TWO_PYTHONS = (
    OLD_PYTHON
    + b"""if PY2:
    def keyword_only(func):
        return 1
else:
    def keyword_only(func):
        return 2
if DEBUG:
    def hidden(func):
        return 3
"""
)


def test_a_branch_for_another_interpreter_is_known_by_the_base_and_by_what_was_loaded():
    loaded = sum(1 << line for line in (1, 2, 6, 7, 8, 12, 14))
    lines = branches_not_taken(TWO_PYTHONS, OLD_PYTHON, loaded=loaded)
    assert [line for line in range(1, 17) if lines >> line & 1] == [3, 4, 9, 10]
    assert branches_not_taken(TWO_PYTHONS, b"", loaded=loaded) == 0
