"""Proves that a mechanical change is made alone only where the rest of the request is known to want nothing."""

from __future__ import annotations

import pytest

from agentforge.pipeline.small_models.reading.unverified_wishes import leftover
from agentforge.pipeline.small_models.refactoring.request_words import wanted_of


@pytest.mark.parametrize(
    "request_text",
    [
        "Remove the function mumble from textkit.py; nobody uses it any more. Everything else stays.",
        "Customers may not remove articles any more: delete the method remove of Cart in shop/cart.py.",
        "Remove old_report from stock.py: the old system is gone. report stays as it is.",
        "minutes and hours in clock.py are not used any more. Remove both; parse_duration and is_leap stay.",
        "Please drop class Cart and its tests, it is dead code. Thanks!",
        "Delete mumble without changing anything else.",
        "Delete mumble (unused since 2.0) and leave shout untouched",
        "Move the class Cart from shop.cart to shop/models.py and update all imports. Behaviour stays the same.",
        "Move the function shout to voice.py, but keep it importable from textkit",
        "Rename shout's parameter text to words everywhere; what it returns stays the same.",
    ],
)
def test_reasons_remarks_and_what_stays_want_nothing_more(request_text: str) -> None:
    wanted = wanted_of(request_text)
    assert wanted is not None and wanted.rest == ""


@pytest.mark.parametrize(
    ("request_text", "rest"),
    [
        ("Delete report from stock.py, and keep report({'nut': 2}) returning 'nut: 2'.", "keep report"),
        ("Delete mumble, but keep it working", "working"),
        ("Delete mumble and log a warning", "warning"),
        ("Delete mumble, but only if nobody uses it", "only if"),
        ("Delete mumble, with a note in CHANGELOG.md", "CHANGELOG.md"),
        ("Delete mumble. initials must be upper case then.", "initials must"),
        ("Delete mumble; callers get an empty list instead", "instead"),
        ("Delete mumble; shout stays and returns upper case", "returns upper case"),
        ("Delete mumble. What it returns stays the same.", "What it returns"),
        ("Delete mumble and bump the number in setup.cfg", "bump"),
        ("Move the class Cart to shop/models.py, and it should refuse negative prices", "refuse"),
        ("Rename shout's parameter text to words, and reject an empty one", "reject"),
    ],
)
def test_what_may_want_more_is_told(request_text: str, rest: str) -> None:
    wanted = wanted_of(request_text)
    assert wanted is not None and rest in wanted.rest


@pytest.mark.parametrize(
    ("request_text", "rest"),
    [
        ("Rename mumble to lower. mumble goes; lower does what mumble did: lower('ABC') == 'abc'.", ""),
        ("Rename the function mumble in textkit.py to lower, for clarity, and update every caller", ""),
        ("Rename shout to yell in textkit", ""),
        ("Rename shout to yell in the module textkit.py.", ""),
        ("Rename shout to yell in textkit, loudly", "in textkit, loudly"),
        ("Rename mumble to lower, but keep the old name working", "but keep the old name working"),
        ("Rename mumble to lower. It should strip blanks, too.", "It should strip blanks, too"),
    ],
)
def test_a_renaming_is_read_whole(request_text: str, rest: str) -> None:
    wanted = wanted_of(request_text)
    assert wanted is not None and (wanted.what, wanted.parameter, wanted.rest) == ("rename", "", rest)


def test_names_in_a_list_belong_to_what_is_said_of_them() -> None:
    assert leftover("; hours and minutes stay", names=["days"], gone=True) == ""
    assert leftover("; hours and days stay", names=["days"], gone=True) == "hours and days stay"
