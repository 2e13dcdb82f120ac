"""What fits on a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st

from agentforge.cli.output.terminal import Style, cut, printable, style_for, table, width_of, wrapped

PLAIN = Style(colour=False, unicode=True)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("hello", 5, "hello"),
        ("hello!", 5, "he..."),
        ("日本語テキスト", 8, "日本..."),
        ("日本", 4, "日本"),
        ("abc", 2, ".."),
        ("e\u0301a", 2, "e\u0301a"),
        ("x", 0, ""),
    ],
)
def test_a_text_is_cut_between_characters(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


@given(st.text(max_size=30), st.integers(min_value=0, max_value=20))
def test_no_cut_text_is_wider_than_asked(text: str, width: int) -> None:
    assert width_of(cut(printable(text), width)) <= width


@given(st.text(max_size=40))
def test_a_printable_text_cannot_steer_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u202e\u2066\u200b" for char in shown)


def test_escapes_and_direction_marks_are_shown() -> None:
    assert printable("a\x1b[31mb\u202ec\nd") == "a<U+001B>[31mb<U+202E>c d"


def test_a_table_lines_up_wide_characters() -> None:
    assert table([("日本", "x"), ("ab", "y")], head=("A", "B"), style=PLAIN) == ["A     B", "日本  x", "ab    y"]


def test_colours_need_a_terminal_and_no_no_color() -> None:
    class Terminal(io.StringIO):
        encoding = "UTF-8"

        def isatty(self) -> bool:
            return True

    assert style_for(Terminal(), {}).colour
    assert not style_for(Terminal(), {"NO_COLOR": "1"}).colour
    assert not style_for(Terminal(), {"TERM": "dumb"}).colour
    assert not style_for(io.StringIO(), {}).colour
    assert Style(colour=True, unicode=True).paint("x", "red") == "\x1b[31mx\x1b[0m"
    assert Style(colour=False, unicode=False).sign("done") == "+"


def test_the_last_column_goes_on_below_itself_where_the_terminal_ends() -> None:
    narrow = Style(colour=False, unicode=True, columns=30)
    rows = table([("abc", "one two three four five six")], head=("A", "B"), style=narrow)
    assert rows == ["A    B", "abc  one two three four five", "     six"]
    assert table([("abcdefgh", "x")], head=("A", "B"), style=narrow) == ["A         B", "abcdefgh  x"]


def test_the_last_column_stands_below_the_others_where_no_room_is_left() -> None:
    narrow = Style(colour=False, unicode=True, columns=30)
    rows = table([("abcdefgh" * 2, "one two three four five six")], head=("A", "B"), style=narrow)
    assert rows == ["A", "    B", "abcdefghabcdefgh", "    one two three four five", "    six"]
    assert wrapped("", 5) == [""]
