"""What is asked of a model, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

Json = Mapping[str, object]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailed(Event):
    """The model could not be asked, after all retries and fallbacks."""

    step: int
    slug: str
    message: str
    requests: int = 1
