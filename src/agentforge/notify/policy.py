"""When people are told of what: once, not at night, together, again after a while. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal, cast

from agentforge.errors import ConfigError
from agentforge.frozen import dataclass

MOST_TRIES = 3
_DAY_MINUTES = 24 * 60
_ALL = ("escalated", "delivered", "failed", "limit")
Notice = Literal["first", "reminder", "deadline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyPolicy:
    """The `[notify]` settings.

    Attributes:
        on: kinds of matters that people are told of.
        quiet: (from, to) in minutes of the local day, None = never quiet.
        digest_s: how long matters are gathered, 0 = each is told at once.
        remind_after_s: 0 = nobody is reminded.
        deadline_s: after which `decision` holds as the answer, 0 = a question waits for ever.
        link: address of the dashboard, "" = messages hold no link.
    """

    on: frozenset[str] = frozenset(_ALL)
    quiet: tuple[int, int] | None = None
    digest_s: float = 0.0
    remind_after_s: float = 0.0
    deadline_s: float = 0.0
    decision: Literal["approve", "reject", "abort"] = "abort"
    link: str = ""

    def is_quiet(self, now: datetime) -> bool:
        """Whether nobody is told anything at this time of their day."""
        if self.quiet is None:
            return False
        begin, end = self.quiet
        minute = now.astimezone().hour * 60 + now.astimezone().minute
        return begin <= minute < end if begin <= end else minute >= begin or minute < end


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What people want to know of a run.

    Attributes:
        about: "E1", or how the run ended.
        kind: one of the words of `notify.on`.
        at: when it came up.
        waits: whether an answer is still missing.
    """

    about: str
    kind: str
    at: datetime
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifiedRecord:
    """One try to tell people."""

    about: str
    channel: str
    taken: bool
    at: datetime


def read_policy(table: Mapping[str, object], *, seconds: Callable[[str], float]) -> NotifyPolicy:
    """Read the `[notify]` settings.

    Args:
        seconds: reads a duration; ValueError when it is none.
    Raises:
        ConfigError: a duration that cannot be read.
    """
    quiet = str(table.get("quiet_hours", ""))
    begin, _, end = quiet.partition("-")
    return NotifyPolicy(
        on=frozenset(cast("list[str]", table.get("on", _ALL))),
        quiet=(_minute(begin), _minute(end)) if quiet else None,
        digest_s=_seconds(table, "digest", seconds),
        remind_after_s=_seconds(table, "remind_after", seconds),
        deadline_s=_seconds(table, "deadline", seconds),
        decision=cast("Literal['approve', 'reject', 'abort']", table.get("deadline_decision", "abort")),
        link=str(table.get("link", "")),
    )


def due(
    matter: Matter, channel: str, told: Iterable[NotifiedRecord], *, policy: NotifyPolicy, now: datetime
) -> Notice | None:
    """Whether people are to be told of a matter by a channel now, and as what."""
    tries = [item for item in told if (item.about, item.channel) == (matter.about, channel)]
    taken = [item for item in tries if item.taken]
    if matter.kind not in policy.on or policy.is_quiet(now):
        return None
    if not taken:
        answered = matter.about.startswith("E") and not matter.waits
        gathered = not policy.digest_s or now - matter.at >= timedelta(seconds=policy.digest_s)
        return "first" if gathered and not answered and len(tries) < MOST_TRIES else None
    latest = max(item.at for item in taken)
    over = bool(policy.remind_after_s) and now - latest >= timedelta(seconds=policy.remind_after_s)
    return "reminder" if matter.waits and over else None


def deadline_of(matter: Matter, policy: NotifyPolicy, told: Iterable[NotifiedRecord] = ()) -> datetime | None:
    """When the stated answer holds for a question; None = never.

    It counts from the first try to tell people, or from when they can be told: neither the digest, nor the night, nor a
    machine that was off uses it up.
    """
    if not (policy.deadline_s and matter.waits):
        return None
    tries = [item.at for item in told if item.about == matter.about]
    return max([_earliest(matter, policy), *([min(tries)] if tries else [])]) + timedelta(seconds=policy.deadline_s)


def _earliest(matter: Matter, policy: NotifyPolicy) -> datetime:
    """When people are told of a matter at the earliest."""
    at = matter.at + timedelta(seconds=policy.digest_s)
    if policy.quiet is None or not policy.is_quiet(at):
        return at
    local = at.astimezone()
    until = (policy.quiet[1] - local.hour * 60 - local.minute) % _DAY_MINUTES
    return local.replace(second=0, microsecond=0) + timedelta(minutes=until)


def _minute(text: str) -> int:
    hour, _, minute = text.partition(":")
    return int(hour) * 60 + int(minute)


def _seconds(table: Mapping[str, object], name: str, seconds: Callable[[str], float]) -> float:
    text = str(table.get(name, ""))
    try:
        return seconds(text) if text else 0.0
    except ValueError as exc:
        raise ConfigError(f"notify.{name}: {exc}", hint="correct it in your settings") from exc
