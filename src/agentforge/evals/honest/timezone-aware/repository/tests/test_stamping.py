from datetime import datetime

from stamping import day


def test_day():
    assert day(datetime(2026, 1, 31)) == "2026-01-31"
