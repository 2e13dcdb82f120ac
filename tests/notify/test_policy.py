"""When people are told: once for each way, not at night, again after a while, never after an answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from agentforge.config.durations import parse_duration
from agentforge.errors import ConfigError
from agentforge.notify.policy import Matter, NotifiedRecord, NotifyPolicy, deadline_of, due, read_policy

_AT = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
_ASKED = Matter(about="E1", kind="escalated", at=_AT, waits=True)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _told(minutes: float, *, taken: bool = True, channel: str = "webhook") -> NotifiedRecord:
    return NotifiedRecord(about="E1", channel=channel, taken=taken, at=_AT + timedelta(minutes=minutes))


def test_a_matter_is_told_once_for_each_way() -> None:
    assert due(_ASKED, "webhook", [], policy=NotifyPolicy(), now=_AT) == "first"
    assert due(_ASKED, "webhook", [_told(0)], policy=NotifyPolicy(), now=_AT + timedelta(days=9)) is None
    assert due(_ASKED, "command", [_told(0)], policy=NotifyPolicy(), now=_AT) == "first"


def test_a_way_that_fails_is_tried_three_times_in_all() -> None:
    failed = [_told(number, taken=False) for number in range(3)]
    assert due(_ASKED, "webhook", failed[:2], policy=NotifyPolicy(), now=_AT) == "first"
    assert due(_ASKED, "webhook", failed, policy=NotifyPolicy(), now=_AT) is None


def test_what_was_answered_before_anybody_was_told_is_not_told() -> None:
    answered = Matter(about="E1", kind="escalated", at=_AT)
    assert due(answered, "webhook", [], policy=NotifyPolicy(), now=_AT) is None
    ended = Matter(about="delivered", kind="delivered", at=_AT)
    assert due(ended, "webhook", [], policy=NotifyPolicy(), now=_AT) == "first"
    assert due(ended, "webhook", [], policy=NotifyPolicy(on=frozenset({"failed"})), now=_AT) is None


def test_reminders_come_while_the_question_waits() -> None:
    policy = NotifyPolicy(remind_after_s=3600)
    assert due(_ASKED, "webhook", [_told(0)], policy=policy, now=_AT + timedelta(minutes=59)) is None
    assert due(_ASKED, "webhook", [_told(0)], policy=policy, now=_AT + timedelta(minutes=60)) == "reminder"
    assert due(_ASKED, "webhook", [_told(0), _told(60)], policy=policy, now=_AT + timedelta(minutes=90)) is None
    answered = Matter(about="E1", kind="escalated", at=_AT)
    assert due(answered, "webhook", [_told(0)], policy=policy, now=_AT + timedelta(days=1)) is None


@pytest.mark.parametrize(
    ("hours", "hour", "quiet"),
    [
        ("22:00-07:00", 23, True),
        ("22:00-07:00", 6, True),
        ("22:00-07:00", 7, False),
        ("09:00-17:00", 12, True),
        ("09:00-17:00", 17, False),
    ],
)
def test_quiet_hours_may_go_over_midnight(hours: str, hour: int, quiet: bool) -> None:
    policy = read_policy({"quiet_hours": hours}, seconds=parse_duration)
    now = datetime(2026, 1, 2, hour, 0, tzinfo=UTC)
    assert policy.is_quiet(now) is quiet
    assert (due(_ASKED, "webhook", [], policy=policy, now=now) is None) is quiet


def test_a_digest_waits_until_enough_time_has_passed() -> None:
    policy = read_policy({"digest": "1h"}, seconds=parse_duration)
    assert due(_ASKED, "webhook", [], policy=policy, now=_AT + timedelta(minutes=59)) is None
    assert due(_ASKED, "webhook", [], policy=policy, now=_AT + timedelta(minutes=60)) == "first"


def test_a_clock_that_was_set_back_reminds_nobody_early() -> None:
    policy = NotifyPolicy(remind_after_s=60)
    assert due(_ASKED, "webhook", [_told(30)], policy=policy, now=_AT) is None


def test_deadlines_belong_to_questions_that_wait() -> None:
    policy = read_policy({"deadline": "2h", "deadline_decision": "reject"}, seconds=parse_duration)
    assert deadline_of(_ASKED, policy) == _AT + timedelta(hours=2)
    assert deadline_of(Matter(about="E1", kind="escalated", at=_AT), policy) is None
    assert deadline_of(_ASKED, NotifyPolicy()) is None


def test_neither_the_night_nor_the_digest_uses_a_deadline_up() -> None:
    local = _AT.astimezone()
    minute = local.hour * 60 + local.minute
    for begin, end, digest, told in (
        (minute - 60, minute + 90, 0, 90),  # asked in quiet hours: counted from their end
        (minute + 30, minute + 90, 3600, 90),  # gathered into them
        (minute + 70, minute + 90, 3600, 60),  # told before they begin
        (minute - 60, minute - 10, 0, 0),  # they are over
    ):
        quiet = (begin % 1440, end % 1440)
        policy = NotifyPolicy(quiet=quiet, digest_s=digest, deadline_s=7200)
        assert deadline_of(_ASKED, policy) == _AT.replace(second=0) + timedelta(minutes=told + 120), (begin, end)


def test_a_deadline_counts_from_the_first_try_to_tell_people() -> None:
    policy = NotifyPolicy(deadline_s=7200)
    tries = [_told(300), _told(90, taken=False), NotifiedRecord(about="E2", channel="webhook", taken=True, at=_AT)]
    assert deadline_of(_ASKED, policy, tries) == _AT + timedelta(minutes=90 + 120)


def test_a_duration_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match=r"notify\.remind_after"):
        read_policy({"remind_after": "soon"}, seconds=parse_duration)
