"""What a terminal answers about its background, however it comes, and what is typed beside it."""

from __future__ import annotations

import pytest

from agentforge.tui.driver import Ground, is_light, may_be_asked

WHITE, BLACK, KIND = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:0000/0000/0000\x07", "\x1b[?62;22c"


@pytest.mark.parametrize(
    ("colour", "light"),
    [
        ("rgb:ffff/ffff/ffff", True), ("rgb:1e1e/1e1e/2e2e", False), ("rgb:f/f/f", True), ("rgb:fd/f6/e3", True),
        ("rgba:0000/0000/0000/ffff", False), ("rgb:0000/ffff/0000", True), ("rgb:0000/0000/ffff", False),
        ("?", None), ("", None), ("rgb:12345/0/0", None), ("white", None),
    ],
)  # fmt: skip
def test_a_colour_is_light_or_dark_or_none(colour: str, light: bool | None) -> None:
    assert is_light(colour) is light


@pytest.mark.parametrize(("answer", "light"), [(WHITE, True), (BLACK, False), ("", None)])
def test_the_answer_is_taken_out_wherever_it_is_cut(answer: str, light: bool | None) -> None:
    sent = f"ab{answer}{KIND}cd"
    for at in range(len(sent) + 1):
        ground = Ground()
        assert ground.ask()
        assert ground.sift(sent[:at]) + ground.sift(sent[at:]) == "abcd", at
        assert (ground.light, ground.known.is_set()) == (light, True)
        assert ground.sift("\x1b") == "\x1b", "nothing is kept back any more"


def test_keys_that_look_like_the_beginning_of_an_answer_come_when_nothing_follows() -> None:
    ground = Ground()
    ground.ask()
    for key in ("\x1b", "\x1b]", "\x1b["):
        assert ground.sift(f"x{key}") + ground.rest() == f"x{key}"
    assert ground.sift("\x1b[A\x1b[200~pasted\x1b[201~") == "\x1b[A\x1b[200~pasted\x1b[201~"
    assert ground.rest() == "" and not ground.known.is_set()


def test_what_was_not_asked_is_no_answer() -> None:
    assert Ground().sift(WHITE + KIND) == WHITE + KIND


def test_a_console_that_would_draw_the_question_is_not_asked() -> None:
    assert may_be_asked({"TERM": "xterm-256color"}) and may_be_asked({})
    assert not may_be_asked({"TERM": "linux"})
