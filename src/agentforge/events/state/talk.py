"""The conversation of a session as state: a fold of its events. Pure.

The history is what a model may see: provider-valid at every point, because a turn that ends answers every call that was
not carried out. What the context policy shows of it is `context/conversation.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from agentforge.events.kinds import conversation as conversing
from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events import kinds
    from agentforge.events.state.run_state import Call, RunState

Json = Mapping[str, object]

CHECKPOINTS_KEPT = 200
BACKGROUND_KEPT = 50
ENDED_WITH_PROCESS = "ended with the process that ran it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message of the history.

    Attributes:
        kind: "summary" stands for older entries that were compacted.
        text: what was said; of a tool its observation as the model may see it.
        calls: of an assistant's message: {call_id, name, arguments (raw JSON)}.
        call_id, name, status, summary: of a tool's message.
        paths: files that the tool read or wrote.
        kept: of an assistant's message: sealed pieces that its model wants back, see ModelReplied.
    """

    kind: Literal["user", "assistant", "tool", "summary"]
    turn: int
    step: int = 0
    text: str = ""
    calls: tuple[Json, ...] = ()
    call_id: str = ""
    name: str = ""
    status: str = ""
    summary: str = ""
    paths: tuple[str, ...] = ()
    kept: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Where a conversation stands.

    Attributes:
        turn: number of the last turn, 0 = nothing was said yet.
        open: the turn goes on.
        said: what the user said in it.
        entries: the history, oldest first.
        goal: the user's first words, pinned.
        outcome, reason: of the last turn that ended.
        settings: what the user changed in this session: name, model, approval, work_mode, skills, ...
        todos: id -> {text, done}.
        changed_paths: files that were written in this session, pinned, most recent last.
        last_command: the last shell command and its summary, pinned.
        checkpoints: {checkpoint_id, reason, tree, turn, label, at, entries}, oldest first.
        children: subagents: {child, name, goal, outcome, usage, cost_usd, duration_ms}.
        merges: patches of writers that were put together: {patch, paths, passed}, oldest first.
        background: commands that were left running: {name, command, cwd, outcome}; outcome "" = it runs. A name counts for
            one process: what still ran when it ended ended with it.
        compactions: how often the history was compacted.
        since_compaction: entries that were added since; a compaction that gains nothing is not repeated.
        mutated: the current turn has a checkpoint from before its first change.
        asked: the beginnings of the user's last messages, pinned.
        sent_tokens: our count of the last request; with the provider's it gives `token_factor`.
        token_factor: the most tokens that the provider counted for one of ours, in eighths; never below 1, and half as much
            again for each request that it refused as too long.
        latest_usage: prompt_tokens, completion_tokens, cached_tokens of the last reply.
        standing: number of the last turn that is part of the conversation; less than `turn` after one was taken back.
        redo: checkpoints to which what was taken back can be brought forward, the next one last.
    """

    turn: int = 0
    open: bool = False
    said: str = ""
    entries: tuple[Entry, ...] = ()
    goal: str = ""
    outcome: str = ""
    reason: str = ""
    settings: Json = field(default_factory=dict)
    todos: Json = field(default_factory=dict)
    changed_paths: tuple[str, ...] = ()
    last_command: str = ""
    checkpoints: tuple[Json, ...] = ()
    children: tuple[Json, ...] = ()
    merges: tuple[Json, ...] = ()
    background: tuple[Json, ...] = ()
    compactions: int = 0
    since_compaction: int = 0
    mutated: bool = False
    asked: tuple[str, ...] = ()
    sent_tokens: int = 0
    token_factor: float = 1.0
    latest_usage: Mapping[str, int] = field(default_factory=dict)
    standing: int = 0
    redo: tuple[str, ...] = ()


_ASKED_PINNED = 5
_ASKED_LENGTH = 300
_MOST_FACTOR = 3.0
_MOST_REFUSED = 16.0
_PATHS_PINNED = 30
_GOAL_LENGTH = 1000


def heard(state: RunState, event: Event, at: str) -> Talk:
    """The conversation after an event.

    Args:
        state: before the event.
    """
    known = _FOLDS.get(type(event).__name__)
    return known(state, event, at) if known else state.talk


def unanswered(state: RunState) -> tuple[Call, ...]:
    """The calls of the current reply that have no result."""
    return state.turn.calls[state.turn.done :] if state.turn.replied else ()


def _with(talk: Talk, *entries: Entry, **changes: object) -> Talk:
    return replace(
        talk,
        entries=(*talk.entries, *entries),
        since_compaction=talk.since_compaction + len(entries),
        **changes,  # type: ignore[arg-type] # fields of Talk
    )


def _user_said(state: RunState, event: conversing.UserSaid, _at: str) -> Talk:
    talk = state.talk
    text = "\n\n".join((event.text, *event.notes))
    return _with(
        talk,
        Entry(kind="user", turn=event.turn, text=text),
        turn=event.turn,
        open=True,
        said=event.text,
        goal=talk.goal or event.text[:_GOAL_LENGTH],
        outcome="",
        reason="",
        mutated=False,
        asked=(*talk.asked, event.text[:_ASKED_LENGTH])[-_ASKED_PINNED:],
        standing=event.turn,
        redo=(),
    )


def _model_called(state: RunState, event: kinds.ModelCalled, _at: str) -> Talk:
    return replace(state.talk, sent_tokens=event.context_tokens)


def _factor(talk: Talk, usage: Json) -> float:
    """Only ever upwards, and in eighths, so that the history is cut at the same places as long as possible."""
    if not usage.get("reported") or not talk.sent_tokens:
        return talk.token_factor
    counted = cast("int", usage.get("prompt_tokens", 0)) / talk.sent_tokens
    return max(talk.token_factor, min(_MOST_FACTOR, -(-counted * 8 // 1) / 8))


def _model_replied(state: RunState, event: kinds.ModelReplied, _at: str) -> Talk:
    usage = cast("Mapping[str, int]", event.usage)
    talk = replace(state.talk, token_factor=_factor(state.talk, event.usage), latest_usage=usage)
    if not event.text.strip() and not event.tool_calls:
        return talk  # an empty message is valid nowhere
    calls, kept = tuple(event.tool_calls), tuple(event.kept)
    return _with(
        talk, Entry(kind="assistant", turn=talk.turn, step=event.step, text=event.text, calls=calls, kept=kept)
    )


def _model_failed(state: RunState, event: kinds.ModelFailed, _at: str) -> Talk:
    """A request that was too long for the model: what it takes is smaller than the settings say."""
    talk = state.talk
    if event.slug != "context-too-long":
        return talk
    return replace(talk, token_factor=min(_MOST_REFUSED, -(-talk.token_factor * 12 // 1) / 8))


def _tool_finished(state: RunState, event: kinds.ToolFinished, _at: str) -> Talk:
    talk = state.talk
    paths = tuple(path for path in talk.changed_paths if path not in event.changed)
    command = (state.turn.started_event or {}).get("arguments") if event.name == "shell" else None
    entry = Entry(
        kind="tool",
        turn=talk.turn,
        step=event.step,
        text=event.text,
        call_id=event.call_id,
        name=event.name,
        status=event.status,
        summary=event.summary,
        paths=tuple(event.paths),
    )
    return _with(
        talk,
        entry,
        changed_paths=(*paths, *event.changed)[-_PATHS_PINNED:],
        last_command=f"{command.get('command', '')} -> {event.summary}"[:400]
        if isinstance(command, Mapping)
        else talk.last_command,
    )


def _turn_finished(state: RunState, event: conversing.TurnFinished, _at: str) -> Talk:
    talk = state.talk
    if not talk.open:
        return talk
    missing = [
        Entry(
            kind="tool",
            turn=talk.turn,
            step=state.turn.step,
            text=f"Not known to be carried out: the turn ended here ({event.reason or event.outcome}).",
            call_id=call.call_id,
            name=call.name,
            status="error",
            summary=f"{call.name}: the turn ended",
        )
        for call in unanswered(state)
    ]
    talk = _with(talk, *missing, open=False, outcome=event.outcome, reason=event.reason)
    if event.outcome == "blocked" and talk.entries and talk.entries[-1].kind == "user":
        return replace(talk, entries=talk.entries[:-1])
    return talk


def _session_changed(state: RunState, event: conversing.SessionChanged, _at: str) -> Talk:
    return replace(state.talk, settings={**state.talk.settings, **event.changes})


def _compacted(state: RunState, event: conversing.HistoryCompacted, _at: str) -> Talk:
    talk = state.talk
    summary = Entry(kind="summary", turn=talk.turn, text=event.summary)
    kept = talk.entries[event.entries :]
    return replace(talk, entries=(summary, *kept), compactions=talk.compactions + 1, since_compaction=0)


def _cleared(state: RunState, _event: conversing.HistoryCleared, _at: str) -> Talk:
    return replace(state.talk, entries=(), goal="", asked=(), changed_paths=(), last_command="", since_compaction=0)


def _todos_changed(state: RunState, event: conversing.TodosChanged, _at: str) -> Talk:
    return replace(state.talk, todos=event.todos)


def _checkpoint_made(state: RunState, event: conversing.CheckpointMade, at: str) -> Talk:
    talk = state.talk
    row: Json = {
        "checkpoint_id": event.checkpoint_id,
        "reason": event.reason,
        "tree": event.tree,
        "turn": event.turn,
        "label": event.label,
        "at": at,
        "entries": len(talk.entries),
    }
    mutated = talk.mutated or event.reason == "before-change"
    redo = (*talk.redo, event.checkpoint_id) if event.reason == "undo" else talk.redo
    return replace(talk, checkpoints=(*talk.checkpoints, row)[-CHECKPOINTS_KEPT:], mutated=mutated, redo=redo)


def _checkpoint_restored(state: RunState, event: conversing.CheckpointRestored, _at: str) -> Talk:
    talk = state.talk
    if talk.redo and talk.redo[-1] == event.checkpoint_id:
        talk = replace(talk, redo=talk.redo[:-1])
    if event.talk is None:
        return talk
    back = talk_from(event.talk)
    return replace(
        back,
        turn=max(talk.turn, back.turn),
        open=False,
        checkpoints=talk.checkpoints,
        children=talk.children,
        redo=talk.redo,
        token_factor=max(talk.token_factor, back.token_factor),
        merges=talk.merges,
        background=talk.background,
    )


def _child_started(state: RunState, event: conversing.ChildStarted, _at: str) -> Talk:
    row: Json = {"child": event.child, "name": event.name, "goal": event.goal, "outcome": "running"}
    return replace(state.talk, children=(*state.talk.children, row))


def _child_finished(state: RunState, event: conversing.ChildFinished, _at: str) -> Talk:
    done: Json = {
        "outcome": event.outcome,
        "usage": dict(event.usage),
        "cost_usd": event.cost_usd,
        "duration_ms": event.duration_ms,
    }
    rows = tuple({**row, **done} if row["child"] == event.child else row for row in state.talk.children)
    return replace(state.talk, children=rows)


def _writers_merged(state: RunState, event: conversing.WritersMerged, _at: str) -> Talk:
    row: Json = {"patch": event.patch, "paths": list(event.paths), "passed": event.passed}
    return replace(state.talk, merges=(*state.talk.merges, row))


def _background_started(state: RunState, event: conversing.BackgroundStarted, _at: str) -> Talk:
    row: Json = {"name": event.name, "command": event.command, "cwd": event.cwd, "outcome": ""}
    return replace(state.talk, background=(*state.talk.background, row)[-BACKGROUND_KEPT:])


def _background_ended(state: RunState, event: conversing.BackgroundEnded, _at: str) -> Talk:
    rows = tuple(
        {**row, "outcome": event.outcome} if row["name"] == event.name and not row["outcome"] else row
        for row in state.talk.background
    )
    return replace(state.talk, background=rows)


def _resumed(state: RunState, _event: Event, _at: str) -> Talk:
    """Another process drives the session: what the one before left running ended with it."""
    if not state.talk.background:
        return state.talk
    rows = tuple(row if row["outcome"] else {**row, "outcome": ENDED_WITH_PROCESS} for row in state.talk.background)
    return replace(state.talk, background=rows)


def talk_from(value: Json) -> Talk:
    """Build a conversation from its JSON value; fields that this program does not know are left out."""
    known = {name: item for name, item in value.items() if name in Talk.__dataclass_fields__}
    entries = tuple(_entry_from(cast("Json", row)) for row in cast("list[object]", value.get("entries", ())))
    lists: dict[str, Any] = {
        name: tuple(cast("list[object]", known[name]))
        for name in ("changed_paths", "checkpoints", "children", "merges", "background", "asked", "redo")
        if name in known
    }
    values: dict[str, Any] = {**known, **lists, "entries": entries}
    return Talk(**values)


def _entry_from(value: Json) -> Entry:
    known = {name: item for name, item in value.items() if name in Entry.__dataclass_fields__}
    lists: dict[str, Any] = {
        name: tuple(cast("list[object]", known[name])) for name in ("calls", "paths") if name in known
    }
    values: dict[str, Any] = {**known, **lists}
    return Entry(**values)


_FOLDS = cast(
    "dict[str, Callable[[RunState, Event, str], Talk]]",
    {
        "UserSaid": _user_said,
        "ModelCalled": _model_called,
        "ModelFailed": _model_failed,
        "ModelReplied": _model_replied,
        "ToolFinished": _tool_finished,
        "TurnFinished": _turn_finished,
        "SessionChanged": _session_changed,
        "HistoryCompacted": _compacted,
        "HistoryCleared": _cleared,
        "TodosChanged": _todos_changed,
        "CheckpointMade": _checkpoint_made,
        "CheckpointRestored": _checkpoint_restored,
        "ChildStarted": _child_started,
        "ChildFinished": _child_finished,
        "WritersMerged": _writers_merged,
        "BackgroundStarted": _background_started,
        "BackgroundEnded": _background_ended,
        "RunResumed": _resumed,
    },
)
