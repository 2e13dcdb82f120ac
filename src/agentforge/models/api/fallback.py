"""Models behind models: a chain that goes on with the next, and one that waits for its turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agentforge.errors import ModelError, ModelNotConfigured
from agentforge.messages import ModelReply, ModelRequest
from agentforge.models.api.model import Model


@dataclass(slots=True)
class _Circuit:
    """What is known of one model. `opened_at` None = closed."""

    failures: int = 0
    opened_at: float | None = None
    last_error: ModelError | None = None


class Breaker:
    """One circuit breaker per model: closed, open after failures in a row, half-open (one try) when the time is over.

    Args:
        failures: in a row, that open a circuit.
        open_s: seconds that it stays open.
        clock: seconds that never go back.
    """

    def __init__(self, *, failures: int = 3, open_s: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._failures = failures
        self._open_s = open_s
        self._clock = clock
        self._circuits: dict[str, _Circuit] = {}

    def allows(self, name: str) -> bool:
        """Whether the model may be asked now."""
        opened_at = self._circuit(name).opened_at
        return opened_at is None or self._clock() - opened_at >= self._open_s

    def succeeded(self, name: str) -> None:
        """Close the circuit."""
        self._circuits[name] = _Circuit()

    def failed(self, name: str, error: ModelError) -> None:
        """Count a failure; a failure while half-open opens the circuit again at once."""
        circuit = self._circuit(name)
        circuit.failures += 1
        circuit.last_error = error
        if circuit.failures >= self._failures:
            circuit.opened_at = self._clock()

    def last_error(self, name: str) -> ModelError | None:
        """The failure that was counted last."""
        return self._circuit(name).last_error

    def _circuit(self, name: str) -> _Circuit:
        return self._circuits.setdefault(name, _Circuit())


class FallbackModel:
    """Asks the models in turn until one answers. A stream that broke after its first piece counts as a failure, too.

    Errors that another model would meet as well (a prompt that is too long, a rejected request) end the chain.
    """

    def __init__(self, models: Sequence[Model], breaker: Breaker) -> None:
        if not models:
            raise ModelNotConfigured("a chain of models needs at least one model")
        self._models = tuple(models)
        self._breaker = breaker

    @property
    def name(self) -> str:
        """The first model's name; a reply tells which model gave it."""
        return self._models[0].name

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Ask for one reply.

        Raises:
            ModelError: of the last model that was asked; where every circuit is open, the last error.
        """
        requests = 0
        last: ModelError | None = None
        failed: list[dict[str, str]] = []
        for model in self._models:
            if not self._breaker.allows(model.name):
                continue
            try:
                reply = model.complete(request, on_delta=on_delta)
            except ModelError as exc:
                requests += exc.requests
                exc.requests = requests
                if not exc.retryable:
                    raise
                self._breaker.failed(model.name, exc)
                failed.append({"model": model.name, "slug": exc.slug, "message": str(exc)})
                last = exc
            else:
                self._breaker.succeeded(model.name)
                return replace(reply, requests=reply.requests + requests, failed=(*failed, *reply.failed))
        raise last or self._open_error()

    def close(self) -> None:
        """Close every model of the chain."""
        for model in self._models:
            model.close()

    def _open_error(self) -> ModelError:
        """Every circuit is open: repeat the last error, with no request made this time."""
        known = [error for model in self._models if (error := self._breaker.last_error(model.name)) is not None]
        last = known[-1]
        return type(last)(last.message, hint="every model of the chain failed lately; wait a minute", requests=0)


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
