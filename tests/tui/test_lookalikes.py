"""Signs that look like those that a terminal without UTF-8 cannot show: always ASCII, as wide as what they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

pytest.importorskip("textual")

from agentforge.tui.looks import fitting_theme, knows_colour, knows_unicode, lookalike


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("naïve café", "naive cafe"),
        ("┌─┬╴│", "+-+-|"),
        ("• “yes” – no…", '* "yes" - no~'),
        ("日本", "????"),
        ("ＡＢ", "A B "),
        ("e\u0301", "e"),
        ("⠋ ▅ ✓", "* # +"),
        ("plain", "plain"),
    ],
)
def test_what_stands_for_a_sign_looks_like_it(text: str, plain: str) -> None:
    assert lookalike(text) == plain


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x1FFFF, exclude_categories=("Cs", "Cc", "Cn", "Co"))))
def test_nothing_but_ascii_is_left(text: str) -> None:
    assert lookalike(text).isascii()


@pytest.mark.parametrize(
    ("environ", "unicode"),
    [
        ({"LANG": "C"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, False),
        ({"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, True),
        ({}, False),
    ],
)
def test_the_locale_says_which_signs_there_are(environ: dict[str, str], *, unicode: bool) -> None:
    assert knows_unicode(environ) is unicode


def test_a_terminal_that_has_no_colours_gets_none() -> None:
    assert not knows_colour({"TERM": "vt100"})
    assert not knows_colour({"TERM": "xterm-256color", "NO_COLOR": "1"})
    assert all(knows_colour({"TERM": name}) for name in ("xterm-256color", "xterm", "nobody-has-described-it"))
    assert knows_colour({"TERM": "vt100", "COLORTERM": "truecolor"})


def test_the_first_theme_fits_the_terminal() -> None:
    grounds = {"": "dark", "15;0": "dark", "0;15": "light", "0;default;15": "light", "0;7": "light", "odd": "dark"}
    assert {value: fitting_theme({"COLORFGBG": value}) for value in grounds} == grounds
    assert fitting_theme({}) == "dark"
    assert fitting_theme({"COLORFGBG": "0;15"}, light=False) == "dark", "what the terminal says now counts more"
    assert fitting_theme({}, light=True) == "light"
