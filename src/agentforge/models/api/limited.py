"""A model that waits for its turn before every request: several processes share what a provider allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.messages import ModelReply, ModelRequest
    from agentforge.models.api.model import Model


class LimitedModel:
    """A model behind a limiter.

    Args:
        limiter: given the provider, returns when one more request may be sent.
    """

    def __init__(self, model: Model, provider: str, limiter: Callable[[str], None]) -> None:
        self.name = model.name
        self._model = model
        self._provider = provider
        self._limiter = limiter

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Wait for the turn, then ask."""
        self._limiter(self._provider)
        return self._model.complete(request, on_delta=on_delta)

    def close(self) -> None:
        """Close the model."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
