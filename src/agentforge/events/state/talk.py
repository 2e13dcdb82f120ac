"""The conversation of a session as state. Pure; how events become it is `talk_fold.py`.

The history is what a model may see: provider-valid at every point, because a turn that ends answers every call that was
not carried out. What the context policy shows of it is `context/conversation.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, cast

from agentforge.frozen import dataclass

Json = Mapping[str, object]

ENDED_WITH_PROCESS = "ended with the process that ran it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message of the history.

    Attributes:
        kind: "summary" stands for older entries that were compacted, "note" is a word of the program to the model.
        text: what was said; of a tool its observation as the model may see it.
        calls: of an assistant's message: {call_id, name, arguments (raw JSON)}.
        call_id, name, status, summary: of a tool's message.
        paths: files that the tool read or wrote.
        pictures: images of a user's message or a tool's: {name, media_type, digest}.
        kept: of an assistant's message: sealed pieces that its model wants back, see ModelReplied.
    """

    kind: Literal["user", "assistant", "tool", "summary", "note"]
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
    pictures: tuple[Json, ...] = ()


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
        token_factor: the most tokens that the provider counted for one of ours, in eighths; never below 1.
        refused_tokens: two thirds of the smallest request that the model refused as too long, by our count; 0 = it refused none.
        warned: the user was told that the model's window fills.
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
    refused_tokens: int = 0
    warned: bool = False
    latest_usage: Mapping[str, int] = field(default_factory=dict)
    standing: int = 0
    redo: tuple[str, ...] = ()

    def last_words(self) -> str:
        """What the assistant said last in this turn, "" when it said nothing."""
        said = (one.text for one in reversed(self.entries) if one.kind == "assistant" and one.turn == self.turn)
        return next((text for text in said if text.strip()), "")


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
        name: tuple(cast("list[object]", known[name])) for name in ("calls", "paths", "pictures") if name in known
    }
    values: dict[str, Any] = {**known, **lists}
    return Entry(**values)
