import pytest

from clock import is_leap, parse_duration


def test_minutes_are_read():
    assert parse_duration("30m") == 1800


def test_a_word_is_no_duration():
    with pytest.raises(ValueError):
        parse_duration("soon")


def test_is_leap():
    assert is_leap(2024)
    assert not is_leap(2023)
