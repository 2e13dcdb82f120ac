"""Proves safety/hygiene.py."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agentforge.safety.text.hygiene import clean, cleaned

CASES = {
    "colours": ("\x1b[1;31mred\x1b[0m", "red"),
    "cursor and erase": ("a\x1b[2K\x1b[1Gb", "ab"),
    "a title": ("\x1b]0;owned\x07text", "text"),
    "a hyperlink": ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    "clipboard, never closed": ("\x1b]52;c;aGk=\nnext", "\nnext"),
    "device control": ("\x1bPq#0\x1b\\after", "after"),
    "eight-bit introducer": ("\x9b31mred", "red"),
    "character set choice": ("\x1b(Btext", "text"),
    "a lone escape at the end": ("end\x1b", "end"),
    "progress": ("10%\r20%\r100%\ndone", "100%\ndone"),
    "a shorter overwrite leaves the rest": ("abcdef\rXY", "XYcdef"),
    "Windows line ends": ("a\r\nb\r\n", "a\nb\n"),
    "overstrike": ("n\x08na\x08am\x08me", "name"),
    "bell and NUL": ("a\x07b\x00c", "abc"),
    "tabs and lines stay": ("a\tb\n\nc", "a\tb\n\nc"),
    "bidirectional override": ("x\u202ey", "x<U+202E>y"),
    "zero width": ("pass\u200bword", "pass<U+200B>word"),
    "unicode tags": ("a\U000e0049\U000e0067", "a<U+E0049><U+E0067>"),
    "byte order mark inside": ("a\ufeffb", "a<U+FEFF>b"),
    "lone surrogate": ("a\udc80b", "a<U+DC80>b"),
    "line separator": ("a\u2028b", "a<U+2028>b"),
    "emoji style stays": ("\u2764\ufe0f ok", "\u2764\ufe0f ok"),
    "other scripts stay": ("naïve 日本 ß", "naïve 日本 ß"),
}


@pytest.mark.parametrize(("raw", "expected"), CASES.values(), ids=CASES.keys())
def test_foreign_text_is_cleaned(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@given(st.text())
def test_cleaning_leaves_nothing_to_clean(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not any(ord(sign) < 32 and sign not in "\t\n" for sign in once)


@given(st.text())
def test_counting_what_was_cleaned_changes_nothing_of_it(text: str) -> None:
    found = cleaned(text)
    assert found.text == clean(text)
    assert (found.sequences, found.controls, found.invisible) == (0, 0, 0) or found.text != text
