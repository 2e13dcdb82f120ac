from __future__ import annotations

import re

from agentforge.store.log.records import not_before, utc_now


def test_the_clock_gives_utc_with_microseconds():
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", utc_now())


def test_other_forms_of_a_time_are_brought_to_the_one_form():
    assert not_before("2025-12-31T10:00:00Z", "") == "2025-12-31T10:00:00.000000Z"
    assert not_before("2025-12-31T12:00:00.5+02:00", "") == "2025-12-31T10:00:00.500000Z"


def test_time_never_falls():
    last = "2025-12-31T10:00:00.000001Z"
    assert not_before("2025-12-31T10:00:00.000000Z", last) == last
    assert not_before("2025-12-31T10:00:00.000002Z", last) == "2025-12-31T10:00:00.000002Z"
