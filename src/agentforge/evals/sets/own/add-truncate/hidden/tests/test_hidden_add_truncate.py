import pytest

from textkit import truncate


def test_long_texts_are_cut():
    assert truncate("abcdefgh", 5) == "ab..."
    assert truncate("abcdefgh", 7) == "abcd..."
    assert truncate("abcdefgh", 3) == "..."


def test_short_texts_stay():
    assert truncate("abc", 5) == "abc"
    assert truncate("abcdefgh", 8) == "abcdefgh"
    assert truncate("", 3) == ""


def test_too_narrow():
    for width in (2, 0, -1):
        with pytest.raises(ValueError):
            truncate("abcdefgh", width)
