"""The model of a replay: it has the name that the record knows, and answers what was answered then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from agentforge.errors import ModelError
from agentforge.events import kinds
from agentforge.messages import ModelReply, ModelRequest
from agentforge.pipeline.replay.recall import reply_of


class ReplayedRecords(Protocol):
    """What the model needs of a record that is replayed."""

    @property
    def ended(self) -> bool:
        """Whether all records were replayed."""

    def next(self) -> tuple[int, str, Any]:
        """The record that comes next."""

    def ahead(self, kind: type[kinds.ModelReplied]) -> kinds.ModelReplied | None:
        """The next reply."""

    def diverged(self, field: str, recorded: object, now: object) -> Exception:
        """The difference, told with its place."""


class AnsweringModel:
    """ReplayedRecords what was answered then.

    Attributes:
        name: of the model that the record names for the stage.
    """

    def __init__(self, log: ReplayedRecords, name: str) -> None:
        self._log, self.name = log, name

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Give the recorded reply, or fail as the model failed then."""
        del request, on_delta
        failed = None if self._log.ended else self._log.next()[2]
        if isinstance(failed, kinds.ModelFailed):
            error = ModelError(failed.message, requests=failed.requests)
            error.slug = failed.slug
            raise error
        said = self._log.ahead(kinds.ModelReplied)
        if said is None:
            raise self._log.diverged("decision", type(self._log.next()[2]).__name__, "a reply is waited for")
        return reply_of(said)

    def close(self) -> None:
        """Nothing is open."""
