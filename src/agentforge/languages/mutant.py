"""One small wrong change of a source file, in whatever language."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong change.

    Attributes:
        kind: the operator's name.
        owner: qualified name of the function or class; "" is the module.
        last: the last line of what is replaced.
        before, after: the line's old and new text, short.
        data: the whole mutated file.
    """

    path: str
    line: int
    last: int
    kind: str
    owner: str
    before: str
    after: str
    data: bytes

    @property
    def name(self) -> str:
        """Names the mutant for people and for the model: path, line, the wrong text."""
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


def short(text: str) -> str:
    """A text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
