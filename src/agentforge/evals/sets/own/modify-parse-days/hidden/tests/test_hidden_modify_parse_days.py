import pytest

from clock import parse_duration


def test_days_and_capitals():
    assert parse_duration("2d") == 172800
    assert parse_duration("1D") == 86400
    assert parse_duration("2H") == 7200
    assert parse_duration("45S") == 45
    assert parse_duration("30m") == 1800


def test_nonsense_is_refused():
    for text in ("2w", "d", "", "-1d", "1.5h"):
        with pytest.raises(ValueError):
            parse_duration(text)
