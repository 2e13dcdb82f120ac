"""What a model is to the rest of AgentForge: a name and one method; and the settings from which one is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Protocol

from agentforge.frozen import dataclass
from agentforge.messages import ModelReply, ModelRequest

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("thinking", default=None)


class Model(Protocol):
    """Anything that answers a request: a hosted model, a chain of them, a script, a recording."""

    @property
    def name(self) -> str:
        """`provider/name`, as it stands in settings and in the log."""

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Ask for one complete reply.

        Args:
            on_delta: told every piece of text as it arrives; a reply that broke and is asked for again starts over.
        Raises:
            ModelError: the narrowest class that fits, with the number of requests made.
        """

    def close(self) -> None:
        """Let go of connections and files; asking again opens them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """How to reach one model.

    Attributes:
        provider: registered name of the provider, e.g. `openai`.
        name: the provider's own name of the model; for `scripted` and `recorded` the path of a file.
        base_url: "" = the provider's own address.
        temperature: used where the request names none.
        max_output_tokens: upper bound on what a request may ask for.
        read_timeout_s: longest silence within a reply.
        reply_timeout_s: longest time for a whole reply.
        profile: which road the stages take with this model: `small` (one choice or one function a step) or `full`.
        abilities: what the server can do beyond plain chat, of `models.abilities.KNOWN`; None = what is known of the provider.
        folder: where files of models on this machine are kept, for provider `local`.
        api: "chat" or "responses": which of OpenAI's two wire formats a server is asked in.
        reasoning: how much a reasoning model should think: "low", "medium", "high"; "" = the provider's own choice.
        serving: how a model on this machine is to be served: `context`, `threads`, `memory_mb`, `idle_s`.
    """

    provider: str
    name: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    temperature: float | None = None
    max_output_tokens: int | None = None
    read_timeout_s: float = 180.0
    reply_timeout_s: float = 3600.0
    profile: str = "full"
    abilities: frozenset[str] | None = None
    folder: str = ""
    api: str = "chat"
    reasoning: str = ""
    serving: Mapping[str, int] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`provider/name`."""
        return f"{self.provider}/{self.name}"


@contextmanager
def thinking_heard(listener: Callable[[str], None] | None) -> Iterator[None]:
    """Let `listener` hear the thinking of every model that is asked meanwhile in this thread; it must not block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def think_aloud(text: str) -> None:
    """Tell whoever listens a piece of what the model thinks."""
    listener = _listener.get()
    if text and listener is not None:
        listener(text)
