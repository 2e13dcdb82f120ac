import clock


def test_both_are_gone():
    assert not hasattr(clock, "minutes")
    assert not hasattr(clock, "hours")


def test_the_rest_stays():
    assert clock.parse_duration("2h") == 7200
    assert clock.is_leap(2024)
