"""What can happen in a conversation (a session, a subagent), beside the steps that it shares with the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

Json = Mapping[str, object]
TurnOutcome = Literal["completed", "interrupted", "limit", "stuck", "failed", "blocked"]
Restored = Literal["both", "conversation", "workspace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSaid(Event):
    """A turn began: what the user said, secrets redacted.

    Attributes:
        turn: counts from 1 over the session.
        notes: what goes with the message: contents of files named by @, words of hooks, texts of skills.
        sources: where what nobody vouches for in the notes came from (events.taint), such as "repository" or "mcp".
        pictures: images that go with the message: {name, media_type, digest of the blob}.
        as_stage: the name under which the turn's steps are counted and scripted: "chat", or a subagent's.
    """

    turn: int
    text: str
    notes: tuple[str, ...] = ()
    as_stage: str = "chat"
    sources: tuple[str, ...] = ()
    pictures: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSteered(Event):
    """The user said something while a turn went on; the model reads it before its next step.

    Attributes:
        text, notes, sources, pictures: as of UserSaid.
    """

    text: str
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    pictures: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRan(Event):
    """The user ran a command of their own (`!command`) between two turns and shows the model what came of it.

    Attributes:
        command: as typed, secrets redacted.
        output: as the model may see it: cleaned, redacted, cut, fenced.
        exit_code: the command's own; 128 + N when signal N ended it.
        left_running: the background command that it became while it ran; "" = it ended. Else exit_code says nothing.
    """

    command: str
    output: str
    exit_code: int
    duration_ms: int = 0
    left_running: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished(Event):
    """A turn ended. Calls that were not carried out by then are answered with `reason` in the history.

    Attributes:
        outcome: "completed" = the last reply holds no tool call; "blocked" = a hook refused the message.
        reason: in words, "" when completed.
        said: what had come of a reply that was broken off, "" where none was.
    """

    turn: int
    outcome: TurnOutcome
    reason: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanged(Event):
    """The user (or a command) changed how the session goes on.

    Attributes:
        changes: only what changed, by name: name, model, approval, work_mode ("build" | "plan"), skills (list), tools, ...
    """

    changes: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCompacted(Event):
    """The oldest entries of the history were replaced by a summary; they stay in the log.

    Attributes:
        entries: how many, from the oldest; never between a call and its result.
        kept: positions among them that stay as they are: what the user said and attached.
        summary: what a model sees instead of the others.
        by: "model" | "harness" (when no model could be asked).
        reason: "budget" | "asked".
        budget, window, fixed: tokens that the conversation might fill, that the model takes, and those of a request beside
            its history; with them the decision can be checked.
        usage: prompt_tokens, completion_tokens, cached_tokens, llm_calls of the model that was asked; {} = none was.
        cost_usd: None when the price is unknown.
    """

    entries: int
    summary: str
    by: str
    reason: str
    tokens_before: int = 0
    tokens_after: int = 0
    budget: int = 0
    fixed: int = 0
    usage: Json = field(default_factory=dict)
    cost_usd: float | None = 0.0
    kept: tuple[int, ...] = ()
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFilling(Event):
    """A request has reached 70 % of what the conversation may fill; at 80 % the oldest part becomes a summary.

    Attributes:
        tokens: of the request, by our count.
        total: what the conversation may fill.
    """

    tokens: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCleared(Event):
    """The conversation starts anew; todos, settings and checkpoints stay."""

    reason: str = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class TodosChanged(Event):
    """The session's list of todos, whole: id -> {text, done}."""

    todos: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered(Event):
    """A person was asked about a call and answered.

    Attributes:
        decision: "once" | "always" | "reject".
        rule: what "always" added, as it is written in settings.
        waited_ms: how long the person took.
    """

    step: int
    tool: str
    decision: str
    text: str = ""
    rule: str = ""
    waited_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMade(Event):
    """Conversation and workspace can be brought back to this point.

    Attributes:
        checkpoint_id: `<session_id>_<YYYYMMDD_HHMMSS>`, with `-2`, `-3` on collision.
        reason: "asked" | "before-change" (the first mutation of a turn) | "before-restore" | "undo".
        tree: of the workspace, untracked files included; "" where none could be taken.
        turn: the turn that stood last.
    """

    checkpoint_id: str
    reason: str
    tree: str = ""
    turn: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRestored(Event):
    """Conversation, workspace or both were brought back to a checkpoint; the log keeps what came between.

    Attributes:
        talk: the conversation as it was then (state.Talk as JSON); None when only the workspace was restored.
    """

    checkpoint_id: str
    what: Restored
    tree: str = ""
    talk: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildStarted(Event):
    """A subagent was started; its own log holds what it does."""

    child: str
    name: str
    goal: str
    step: int = 0
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildFinished(Event):
    """A subagent ended; what it used counts for its parent, too.

    Attributes:
        outcome: of its turn: completed | limit | timeout | failed | interrupted | stuck.
        usage: prompt_tokens, completion_tokens, cached_tokens, llm_calls.
    """

    child: str
    name: str
    outcome: str
    usage: Json = field(default_factory=dict)
    cost_usd: float | None = 0.0
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundStarted(Event):
    """A command was left running; it ends with the process that drives the session, at the latest."""

    name: str
    command: str
    cwd: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundEnded(Event):
    """A command that was left running ended.

    Attributes:
        outcome: such as "exit 0" or "stopped".
        output: the end of what it wrote, as the model is shown it in a note; None = the model is told nothing.
    """

    name: str
    outcome: str
    output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WritersMerged(Event):
    """The patches of several writers were put together and tested; nothing of the user's folder changed yet.

    Attributes:
        patch: digest of the blob with the whole patch, "" when nothing came out.
        base, tree: git trees before and after.
        conflicts: {path, writer, reason}: changes that were left out.
        tests: in words, how the project's tests went on the merged tree.
        passed: no test fails that passed before.
    """

    patch: str
    base: str
    tree: str
    paths: tuple[str, ...] = ()
    conflicts: tuple[Json, ...] = ()
    tests: str = ""
    passed: bool = False
