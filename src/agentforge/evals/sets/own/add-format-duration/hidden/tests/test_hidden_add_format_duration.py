from clock import format_duration, parse_duration


def test_mixed():
    assert format_duration(3661) == "1h1m1s"
    assert format_duration(90) == "1m30s"
    assert format_duration(3601) == "1h1s"
    assert format_duration(90000) == "25h"


def test_single():
    assert format_duration(7200) == "2h"
    assert format_duration(0) == "0s"
    assert format_duration(59) == "59s"
    assert format_duration(60) == "1m"


def test_the_other_way_round():
    assert parse_duration(format_duration(1800)) == 1800
