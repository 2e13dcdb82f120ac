"""Telling people about a run: at once while it is driven, and later what was held back, reminders and deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote

from agentforge.app.composition.task_queries import listing
from agentforge.app.sync.travel import shared
from agentforge.app.tasks.answers import answer_by_itself
from agentforge.app.tasks.log_heads import task_log
from agentforge.config.durations import parse_duration
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, IntegrityError, LockedError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.kinds.choices import by_itself, choices_of
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.frozen import dataclass
from agentforge.notify import (
    Matter,
    Notice,
    NotifiedRecord,
    Notifier,
    NotifyMessage,
    NotifyPolicy,
    answer_url,
    deadline_of,
    digest_of,
    due,
    link_key,
    notifiers,
    read_policy,
    sign,
)
from agentforge.safety.text.redaction import hidden_keys
from agentforge.store.log.reader import load_state, read
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.views.words import answers_for

_ENDS = ("delivered", "failed")
_LINK_S = 7 * 86_400
_LONGEST_TEXT = 4_000
_LONGEST_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What telling people needs.

    Attributes:
        ways: to people.
    """

    policy: NotifyPolicy
    ways: tuple[Notifier, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttempt:
    """One try to tell people, or a deadline that passed."""

    task_id: str
    about: str
    notice: Notice
    channel: str
    error: str = ""


def open_desk(settings: Settings, environ: Mapping[str, str]) -> Sender:
    """Read the `[notify]` settings.

    Raises:
        ConfigError: a duration that cannot be read.
    """
    table = settings.table("notify")
    policy = read_policy(table, seconds=parse_duration)
    return Sender(policy=policy, ways=tuple(notifiers(table, environ)), environ=environ)


class Teller:
    """Tells people while a run is driven. A way that fails is recorded and harms nothing."""

    def __init__(self, log: RunLog, desk: Sender) -> None:
        self._log = log
        self._desk = desk

    def __call__(self, event: Event, state: RunState) -> None:
        """Tell what is due after a question or an end: one message by each way, with all questions that were asked together."""
        ended = isinstance(event, kinds.RunFinished) and event.outcome in _ENDS
        asked = isinstance(event, kinds.EscalationRaised) and not event.following
        if not (ended or asked):
            return
        now = datetime.fromisoformat(state.progress.last_at)
        told = told_of(self._log.folder)
        for way in self._desk.ways:
            found = [(item, due(item, way.channel, told, policy=self._desk.policy, now=now)) for item in matters(state)]
            group = [(self._log, item, notice, way) for item, notice in found if notice is not None]
            if group:
                _tell_together(group, self._desk, now=now)


def tell_due(
    places: Sequence[Path], desk: Sender, *, settings: Settings, now: str | None = None
) -> list[DeliveryAttempt]:
    """Tell what is due of all runs of some repositories: held back, gathered, reminders; and let deadlines pass.

    A run that a process drives, here or at another machine, is left to that process.

    Args:
        settings: what is recorded travels where they name a remote.
        now: ISO 8601 in UTC, None = now.
    """
    at = datetime.fromisoformat(now or utc_now())
    tried: list[DeliveryAttempt] = []
    waiting: list[tuple[RunLog, Matter, Notice, Notifier]] = []
    with ExitStack() as opened:
        for row in (row for place in places for row in listing(place)):
            if row.outcome == "damaged" or not _anything_due(row.folder, desk, now=at):
                continue
            log = _opened(row.folder, opened, settings, desk.environ)
            if log is not None:
                tried += _deadlines(log, desk, now=at)
                waiting += _waiting(log, desk, now=at)
        return tried + _tell(waiting, desk, now=at)


def try_ways(desk: Sender) -> list[DeliveryAttempt]:
    """Send a test message by every way."""
    message = NotifyMessage(
        message_id="test",
        task_id="",
        about="test",
        notice="first",
        title="AgentForge: a test",
        text="If you read this, messages reach you.",
    )
    return [
        DeliveryAttempt(
            task_id="", about="test", notice="first", channel=way.channel, error=_sent(way, message, desk.environ)
        )
        for way in desk.ways
    ]


def matters(state: RunState) -> list[Matter]:
    """What people may want to know of a run."""
    found = [
        Matter(
            about=item.escalation_id,
            kind="limit" if item.kind == "limit" else "escalated",
            at=datetime.fromisoformat(item.raised_at),
            waits=item.resolution is None and not state.progress.outcome,
        )
        for item in state.people.escalations.values()
    ]
    if state.progress.outcome in _ENDS:
        found.append(
            Matter(
                about=state.progress.outcome,
                kind=state.progress.outcome,
                at=datetime.fromisoformat(state.progress.ended_at),
            )
        )
    return found


def told_of(folder: Path) -> list[NotifiedRecord]:
    """What people were told of a run already, and what failed."""
    return [
        NotifiedRecord(
            about=record.event.about,
            channel=record.event.channel,
            taken=not record.event.error,
            at=datetime.fromisoformat(record.at),
        )
        for record in read(folder)
        if isinstance(record.event, kinds.NotificationSent)
    ]


def message_of(
    state: RunState, matter: Matter, notice: Notice, *, desk: Sender, told: Sequence[NotifiedRecord] = ()
) -> NotifyMessage:
    """The message about a matter; secrets redacted.

    Args:
        told: what people were told of the run, this message included: a deadline counts from it.
    """
    item = state.people.escalations.get(matter.about)
    task = state.identity.run_id
    again = "again: " if notice == "reminder" else ""
    head = f"{again}{matter.kind} {task}" if item is None else f"{again}{task} asks ({item.kind})"
    lines = (
        _end_lines(state) if item is None else _question_lines(state, item, _ending(matter, item, desk.policy, told))
    )
    return NotifyMessage(
        message_id=f"{task}.{matter.about}.{notice}.{int(matter.at.timestamp())}",
        task_id=task,
        about=matter.about,
        notice=notice,
        title=f"AgentForge: {head}",
        text=hidden_keys("\n".join(lines), desk.environ)[:_LONGEST_TEXT],
        commands=_commands(state, item),
        link=_link(state, item, desk) if item is not None else "",
    )


def _heard(told: Sequence[NotifiedRecord], matter: Matter, now: datetime) -> Sequence[NotifiedRecord]:
    """What people know of a matter once they are told of it now."""
    return [*told, NotifiedRecord(about=matter.about, channel="", taken=True, at=now)]


def _ending(matter: Matter, item: Escalation, policy: NotifyPolicy, told: Sequence[NotifiedRecord]) -> list[str]:
    """What becomes of a question that nobody answers."""
    end = deadline_of(matter, policy, told)
    choice = by_itself(item, policy.decision)
    word = {"approve": "approved", "reject": "rejected", "abort": "aborted"}.get(choice.decision) or f'"{choice.label}"'
    return [] if end is None else ["", f"Without an answer by {end.astimezone(UTC):%Y-%m-%d %H:%M} UTC it is {word}."]


def _question_lines(state: RunState, item: Escalation, ending: list[str]) -> list[str]:
    lines = [f"Request: {state.brief.request[:300]}", f"Repository: {state.identity.repo}"]
    lines += [f"Stage: {item.stage}" if item.stage else "Between two stages", f"Why: {item.reason}", "", item.question]
    lines += ["", *_cut(item.shown)] if item.shown else []
    lines += ["", *(f"  {choice.label}: {choice.then}" for choice in choices_of(item))]
    return [*lines, *ending, ""]


def _cut(shown: str) -> list[str]:
    """As much of what is judged as a message has room for."""
    lines = shown.splitlines()
    more = [f"... {len(lines) - _LONGEST_SHOWN} more lines"] if len(lines) > _LONGEST_SHOWN else []
    return [*lines[:_LONGEST_SHOWN], *more]


def _end_lines(state: RunState) -> list[str]:
    lines = [f"Request: {state.brief.request[:300]}", f"Repository: {state.identity.repo}"]
    if state.work.delivered:
        lines.append(f"Branch: {state.work.delivered.get('branch')}")
    if state.progress.error:
        lines.append(f"Error: {state.progress.error.get('message')}")
    return lines


def _commands(state: RunState, item: Escalation | None) -> tuple[str, ...]:
    """The commands, so that they can be pasted in any folder."""
    found = (
        [f"agentforge status {state.identity.run_id}"]
        if item is None
        else answers_for(item, task_id=state.identity.run_id)
    )
    return tuple(f"cd {quote(state.identity.repo)} && {command}" for command in found)


def _link(state: RunState, item: Escalation, desk: Sender) -> str:
    if not desk.policy.link:
        return ""

    key = link_key(data_dir(desk.environ) / "links")
    expires = int(datetime.now(UTC).timestamp()) + _LINK_S
    token = sign(
        key, address=f"{state.identity.run_id}.{item.escalation_id}", repo=state.identity.repo, expires=expires
    )
    return answer_url(desk.policy.link, token)


def _sent(way: Notifier, message: NotifyMessage, environ: Mapping[str, str]) -> str:
    """Send; returns what went wrong, without secrets."""
    try:
        way.send(message)
    except AgentForgeError as exc:
        return hidden_keys(str(exc), environ)[:500]
    return ""


def _record(matter: Matter, notice: Notice, way: Notifier, error: str) -> kinds.NotificationSent:
    return kinds.NotificationSent(about=matter.about, notice=notice, channel=way.channel, error=error)


# -- below: what is due when nobody drives a run


def _opened(folder: Path, opened: ExitStack, settings: Settings, environ: Mapping[str, str]) -> RunLog | None:
    """Become the writer of a run until `opened` ends; None = somebody else is, or its log is not what was written."""
    try:
        log = opened.enter_context(task_log(folder, environ))
        opened.enter_context(shared(log, settings))
    except (LockedError, IntegrityError):
        return None
    return log


def _anything_due(folder: Path, desk: Sender, *, now: datetime) -> bool:
    """Whether a run has to be opened at all."""
    state, told = load_state(folder), told_of(folder)
    return any(
        _passed(item, told, desk, now=now)
        or any(due(item, way.channel, told, policy=desk.policy, now=now) for way in desk.ways)
        for item in matters(state)
    )


def _passed(matter: Matter, told: Sequence[NotifiedRecord], desk: Sender, *, now: datetime) -> bool:
    """Whether the stated answer holds now; never before people were told where there is a way to tell them."""
    unheard = not any(item.about == matter.about for item in told)
    if unheard and desk.ways and matter.kind in desk.policy.on:
        return False
    end = deadline_of(matter, desk.policy, told)
    return end is not None and now >= end


def _deadlines(log: RunLog, desk: Sender, *, now: datetime) -> list[DeliveryAttempt]:
    """Record the stated answer of every question whose deadline passed."""
    found, told = [], told_of(log.folder)
    for item in matters(log.state):
        if not _passed(item, told, desk, now=now):
            continue
        text = f"nobody answered within {timedelta(seconds=desk.policy.deadline_s)}"
        asked = log.state.people.escalations[item.about]
        decision = answer_by_itself(log, asked, decision=desk.policy.decision, text=text, by="the deadline")
        found.append(
            DeliveryAttempt(task_id=log.state.identity.run_id, about=item.about, notice="deadline", channel=decision)
        )
    return found


def _waiting(log: RunLog, desk: Sender, *, now: datetime) -> list[tuple[RunLog, Matter, Notice, Notifier]]:
    told = told_of(log.folder)
    found = []
    for item in matters(log.state):
        for way in desk.ways:
            notice = due(item, way.channel, told, policy=desk.policy, now=now)
            if notice is not None:
                found.append((log, item, notice, way))
    return found


def _tell(
    waiting: Iterable[tuple[RunLog, Matter, Notice, Notifier]], desk: Sender, *, now: datetime
) -> list[DeliveryAttempt]:
    """One message for each way where matters are gathered, else one for each matter."""
    rows = list(waiting)
    if not desk.policy.digest_s:
        groups = [[row] for row in rows]
    else:
        groups = [[row for row in rows if row[3] is way] for way in desk.ways]
    tried = []
    for group in filter(None, groups):
        tried += _tell_together(group, desk, now=now)
    return tried


def _tell_together(
    group: list[tuple[RunLog, Matter, Notice, Notifier]], desk: Sender, *, now: datetime
) -> list[DeliveryAttempt]:
    messages = [
        message_of(log.state, item, notice, desk=desk, told=_heard(told_of(log.folder), item, now))
        for log, item, notice, _ in group
    ]
    message = digest_of(messages)
    error = _sent(group[0][3], message, desk.environ)
    tried = []
    for log, item, notice, way in group:
        log.append(_record(item, notice, way, error))
        tried.append(
            DeliveryAttempt(
                task_id=log.state.identity.run_id, about=item.about, notice=notice, channel=way.channel, error=error
            )
        )
    return tried
