"""Events of calls: of models, of tools, and of the hooks that a user has put around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

Json = Mapping[str, object]
Effect = Literal["read", "write", "execute", "submit", "ask", "network"]
ToolStatus = Literal["success", "error", "denied"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(Event):
    """A request is about to be sent: the intent.

    Attributes:
        step: counts from 1 over the whole run.
        request: digest of the blob with the exact request (messages.request_value).
        context_tokens: our count of all that is sent, tool schemas included.
        sections: tokens per section of the context.
        seen: digests of the files that the context shows by the model's own wish, by repository path.
        budget: tokens that the request might have held; 0 = nothing bounds it, or the record is older than the bound.
        window: tokens that the model takes, the room for its answer taken off; 0 = not known.
        left_out: what the context wanted to show and had no room for: {name, lines, level, tokens, why}.
    """

    step: int
    stage: str
    attempt: int
    model: str
    request: str
    context_tokens: int
    sections: Json = field(default_factory=dict)
    seen: Json = field(default_factory=dict)
    budget: int = 0
    left_out: tuple[Json, ...] = ()
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied(Event):
    """A complete reply. `tool_calls` are {call_id, name, arguments (raw JSON text)}; `cost_usd` None = price unknown.

    Attributes:
        sent: SHA-256 of the body that went over the wire, "" for a model that is not behind HTTP.
        others: texts of the further samples, where several were asked for.
        kept: sealed pieces that the model wants back with this reply: {by: `provider/name`, block}.
        failed: models that were asked before the one that answered, and failed: {model, slug, message}.
        unseen: names of new images that the model does not see; it was told that they are there.
    """

    step: int
    text: str
    tool_calls: tuple[Json, ...]
    finish: str
    usage: Json
    model: str
    cost_usd: float | None = None
    requests: int = 1
    duration_ms: int = 0
    thinking: str = ""
    sent: str = ""
    others: tuple[str, ...] = ()
    kept: tuple[Json, ...] = ()
    failed: tuple[Json, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailed(Event):
    """The model could not be asked, after all retries and fallbacks."""

    step: int
    slug: str
    message: str
    requests: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Event):
    """A tool call is about to be executed: the intent.

    Attributes:
        index: position of the call in its reply, from 0.
        arguments: as parsed; the raw text under "raw" when they are not a JSON object.
        touches: for a write, the files it may change: digest of the blob with the content before, "" = no such file.
        tree: for a command that may change files, the tree of the workspace before.
    """

    step: int
    index: int
    call_id: str
    name: str
    arguments: Json
    effect: Effect
    touches: Json = field(default_factory=dict)
    tree: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(Event):
    """The structured observation of one tool call, cleaned and redacted.

    Attributes:
        text: what the model may see; bounded.
        paths: files that were read or written (repository paths).
        changed: files that were written: {path: digest after, "" = deleted}.
        output: digest of the full text when `text` was cut.
        result: digest of (name, arguments, status, text) for loop detection.
        redaction: {count, kinds} of the secrets that were taken out of the text; {} = none.
        hygiene: {sequences, controls, invisible, truncated}: terminal escapes and control characters that were removed, invisible
            characters that are shown by number, and the fields that were cut; {} = nothing.
        pictures: images that go with it: {name, media_type, digest of the blob}.
        trust: "untrusted" = foreign text, fenced as data; "unmarked" = the fence is switched off; "" = no text, or an old log.
        held: {draft, ahead} of a submission of the same reply that is kept and not measured, because this call, or one before it,
            was not carried out; {} = none.
    """

    step: int
    index: int
    call_id: str
    name: str
    status: ToolStatus
    summary: str
    text: str = ""
    error_type: str | None = None
    retryable: bool = False
    next_actions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    changed: Json = field(default_factory=dict)
    view: Json | None = None
    output: str | None = None
    result: str = ""
    duration_ms: int = 0
    redaction: Json = field(default_factory=dict)
    hygiene: Json = field(default_factory=dict)
    pictures: tuple[Json, ...] = ()
    trust: str = ""
    held: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsKept(Event):
    """The calls of a reply from one on are for a later stage: they wait until it begins.

    Attributes:
        index: position of the first of them in the reply, from 0.
        stage: the later stage.
    """

    step: int
    index: int
    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsTaken(Event):
    """A stage begins with the calls that an earlier stage's reply holds for it; they are a step of their own.

    Attributes:
        calls: {call_id, name, arguments} as the model wrote them.
    """

    step: int
    stage: str
    calls: tuple[Json, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFinished(Event):
    """One of the user's hooks was run, or was not and why.

    Attributes:
        verdict: pass | allow | ask | deny | failed | not_run.
        tool: the tool that it was asked about, "" for the other triggers.
        exit_code: None when it could not be started.
        rewrote: it changed the arguments of the call.
        failure_mode: what its failure leads to: block | warn | ignore; "" when it did not fail.
        origin: the settings file that it stands in.
    """

    name: str
    trigger: str
    verdict: str
    reason: str = ""
    tool: str = ""
    exit_code: int | None = None
    rewrote: bool = False
    failure_mode: str = ""
    origin: str = ""
    duration_ms: int = 0
