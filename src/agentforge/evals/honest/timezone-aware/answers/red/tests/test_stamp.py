from datetime import datetime, timedelta, timezone

import pytest


def test_any_zone_is_written_in_utc():
    from stamping import stamp

    assert stamp(datetime(2026, 1, 31, 10, 5, tzinfo=timezone(timedelta(hours=1)))) == "2026-01-31T09:05:00Z"
    assert stamp(datetime(2026, 1, 31, 9, 5, 7, 999, tzinfo=timezone.utc)) == "2026-01-31T09:05:07Z"


def test_a_naive_time_is_refused():
    from stamping import stamp

    with pytest.raises(ValueError, match="zone"):
        stamp(datetime(2026, 1, 31))


def test_by_default_it_is_the_present():
    from stamping import stamp

    before = datetime.now(timezone.utc).replace(microsecond=0)
    told = datetime.strptime(stamp(), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    assert before <= told <= datetime.now(timezone.utc)
