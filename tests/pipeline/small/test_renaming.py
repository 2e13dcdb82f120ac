"""Proves that a name is changed where it stands as a name, nowhere else, and not where the tree cannot tell."""

from __future__ import annotations

import pytest

from agentforge.pipeline.small_models.refactoring.rename_request import ambiguous, rename_asked, renamed


@pytest.mark.parametrize(
    ("request_text", "asked"),
    [
        ("Rename shout to yell", ("shout", "yell")),
        ("Please rename the function `shout()` in textkit.py to `yell`.", ("shout", "yell")),
        ("rename the method Cart.total to Cart_total", ("Cart.total", "Cart_total")),
        ("Rename a to b and rename c to d", None),
        ("Add rename(a)", None),
    ],
)
def test_a_renaming_is_read_from_the_request(request_text: str, asked: tuple[str, str] | None) -> None:
    assert rename_asked(request_text) == asked


def test_names_change_and_texts_do_not() -> None:
    source = (
        '__all__ = ["shout", "other"]\n\n\ndef shout(text):\n    """shout it."""\n    return text  # shout\n\n\n'
        'def other():\n    return shout("shout") + shouting.shout\n'
    )
    assert renamed(source, "shout", "yell") == (
        '__all__ = ["yell", "other"]\n\n\ndef yell(text):\n    """shout it."""\n    return text  # shout\n\n\n'
        'def other():\n    return yell("shout") + shouting.yell\n'
    )


@pytest.mark.parametrize(
    "source",
    ["def f(total):\n    return 1\n", "f(total=1)\n", "total = 3\n", "getattr(cart, 'total')()\n"],
)
def test_what_the_tree_cannot_tell_is_left_to_a_person(source: str) -> None:
    assert ambiguous(source, "total")
    assert not ambiguous("def total():\n    return 1\n\n\nprint(total())\n", "total")
