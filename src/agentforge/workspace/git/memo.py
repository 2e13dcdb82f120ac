"""Keeps answers of git that can never change, because they were asked of objects by their full ids."""

from __future__ import annotations

from agentforge.workspace.processes.process import Completed

_ENTRY_BYTES = 256 * 1024
_COST_BYTES = 500  # of the objects around an answer
_LENGTHS = (40, 64)


def is_object_id(rev: str) -> bool:
    """Whether a revision is the full id of an object, and no name that can move."""
    return len(rev) in _LENGTHS and all(letter in "0123456789abcdef" for letter in rev)


class GitMemo:
    """Small answers by the arguments of the call, up to a limit in bytes; the oldest go first."""

    def __init__(self, *, limit_bytes: int = 4 * 1024 * 1024) -> None:
        """Start with nothing."""
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._answers: dict[tuple[str, ...], Completed] = {}

    def held(self, arguments: tuple[str, ...]) -> Completed | None:
        """The answer to this call, when it is known."""
        return self._answers.get(arguments)

    def hold(self, arguments: tuple[str, ...], answer: Completed, *, for_ever: bool) -> None:
        """Keep an answer, unless it is large, or a refusal that is not for ever: what git does not have it may get."""
        if not for_ever or _cost(answer) > _ENTRY_BYTES or arguments in self._answers:
            return
        self._answers[arguments] = answer
        self._held_bytes += _cost(answer)
        while self._held_bytes > self._limit_bytes:
            self._held_bytes -= _cost(self._answers.pop(next(iter(self._answers))))


def _cost(answer: Completed) -> int:
    return len(answer.output) + _COST_BYTES
