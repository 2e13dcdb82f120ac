"""How the events of a session become its conversation. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from agentforge.events import kinds
from agentforge.events.kinds import conversation as conversing
from agentforge.events.kinds.event import Event
from agentforge.events.state.attempt import Call
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import ENDED_WITH_PROCESS, Entry, Json, Talk, talk_from

CHECKPOINTS_KEPT = 200
BACKGROUND_KEPT = 50
_ASKED_PINNED = 5
_ASKED_LENGTH = 300
_MOST_FACTOR = 3.0
_PATHS_PINNED = 30
_GOAL_LENGTH = 1000
_STEERS = "[said by the user while you were working: take it into account and go on]"


def heard(state: RunState, event: Event, at: str) -> Talk:
    """The conversation after an event.

    Args:
        state: before the event.
    """
    known = _FOLDS.get(type(event).__name__)
    return known(state, event, at) if known else state.talk


def unanswered(state: RunState) -> tuple[Call, ...]:
    """The calls of the current reply that have no result."""
    return state.progress.turn.calls[state.progress.turn.done :] if state.progress.turn.replied else ()


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
        Entry(kind="user", turn=event.turn, text=text, pictures=event.pictures),
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


def _user_steered(state: RunState, event: conversing.UserSteered, _at: str) -> Talk:
    """Words within a turn: they stand where they were read, and are the current request from there on."""
    talk = state.talk
    entry = Entry(
        kind="user",
        turn=talk.turn,
        step=state.progress.turn.step,
        text="\n\n".join((_STEERS, event.text, *event.notes)),
        pictures=event.pictures,
    )
    return _with(talk, entry, said=event.text, asked=(*talk.asked, event.text[:_ASKED_LENGTH])[-_ASKED_PINNED:])


def _user_ran(state: RunState, event: conversing.UserRan, _at: str) -> Talk:
    talk = state.talk
    how = (
        f"It goes on in the background as {event.left_running}, and wrote so far"
        if event.left_running
        else f"It ended with exit code {event.exit_code} and wrote"
    )
    text = f"I ran this command myself:\n{event.command}\n\n{how}:\n{event.output}"
    return _with(talk, Entry(kind="user", turn=talk.turn, text=text))


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
    return replace(talk, refused_tokens=min(talk.refused_tokens or talk.sent_tokens, talk.sent_tokens) * 2 // 3)


def _tool_finished(state: RunState, event: kinds.ToolFinished, _at: str) -> Talk:
    talk = state.talk
    paths = tuple(path for path in talk.changed_paths if path not in event.changed)
    command = (state.progress.turn.started_event or {}).get("arguments") if event.name == "shell" else None
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
        pictures=tuple(event.pictures),
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
            step=state.progress.turn.step,
            text=f"Not known to be carried out: the turn ended here ({event.reason or event.outcome}).",
            call_id=call.call_id,
            name=call.name,
            status="error",
            summary=f"{call.name}: the turn ended",
        )
        for call in unanswered(state)
    ]
    begun = (
        (Entry(kind="assistant", turn=talk.turn, step=state.progress.turn.step, text=event.said),)
        if event.said.strip()
        else ()
    )
    talk = _with(talk, *missing, *begun, *_note(talk, event), open=False, outcome=event.outcome, reason=event.reason)
    if event.outcome == "blocked" and talk.entries and talk.entries[-1].kind == "user":
        return replace(talk, entries=talk.entries[:-1])
    return talk


def _note(talk: Talk, event: conversing.TurnFinished) -> tuple[Entry, ...]:
    """What the model is told of a turn that did not come to its end, so that the next one does not take it for done."""
    if event.outcome in ("completed", "blocked"):
        return ()
    how = (
        "The user interrupted this turn" if event.outcome == "interrupted" else "This turn ended before it was finished"
    )
    why = f" ({event.reason})" if event.reason else ""
    return (Entry(kind="note", turn=talk.turn, text=f"{how}{why}: what was under way may be half done."),)


def _session_changed(state: RunState, event: conversing.SessionChanged, _at: str) -> Talk:
    talk = state.talk
    refused = 0 if "model" in event.changes else talk.refused_tokens  # by another model
    return replace(talk, settings={**talk.settings, **event.changes}, refused_tokens=refused)


def _compacted(state: RunState, event: conversing.HistoryCompacted, _at: str) -> Talk:
    """The summary stands behind what the user said before, and in front of their current request."""
    talk = state.talk
    summary = Entry(kind="summary", turn=talk.turn, text=event.summary)
    kept = [talk.entries[place] for place in event.kept]
    now = [entry for entry in kept if talk.open and entry.turn == talk.turn]
    before = [entry for entry in kept if not (talk.open and entry.turn == talk.turn)]
    entries = (*before, summary, *now, *talk.entries[event.entries :])
    return replace(talk, entries=entries, compactions=talk.compactions + 1, since_compaction=0, warned=False)


def _window_filling(state: RunState, _event: conversing.WindowFilling, _at: str) -> Talk:
    return replace(state.talk, warned=True)


def _cleared(state: RunState, _event: conversing.HistoryCleared, _at: str) -> Talk:
    return replace(
        state.talk, entries=(), goal="", asked=(), changed_paths=(), last_command="", since_compaction=0, warned=False
    )


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
    talk = replace(state.talk, background=rows)
    if event.output is None:
        return talk
    command = next((str(row["command"]) for row in rows if row["name"] == event.name), "")
    wrote = f"The end of what it wrote:\n{event.output}" if event.output else "It wrote nothing that you have not read."
    text = f"The background command {event.name} ({command[:200]}) ended: {event.outcome}. {wrote}"
    return _with(talk, Entry(kind="note", turn=talk.turn, text=text))


def _resumed(state: RunState, _event: Event, _at: str) -> Talk:
    """Another process drives the session: what the one before left running ended with it."""
    if not state.talk.background:
        return state.talk
    rows = tuple(row if row["outcome"] else {**row, "outcome": ENDED_WITH_PROCESS} for row in state.talk.background)
    return replace(state.talk, background=rows)


_FOLDS = cast(
    "dict[str, Callable[[RunState, Event, str], Talk]]",
    {
        "UserSaid": _user_said,
        "UserSteered": _user_steered,
        "UserRan": _user_ran,
        "ModelCalled": _model_called,
        "ModelFailed": _model_failed,
        "ModelReplied": _model_replied,
        "ToolFinished": _tool_finished,
        "TurnFinished": _turn_finished,
        "SessionChanged": _session_changed,
        "HistoryCompacted": _compacted,
        "WindowFilling": _window_filling,
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
