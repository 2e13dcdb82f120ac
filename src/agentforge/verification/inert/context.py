"""What inertness is measured on: two trees, the places where a change alters what runs, and what the project reads of itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from agentforge.verification.inert.python import Readers, reads
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import parse_python
from agentforge.workspace.git.repository import Read

Mentions = Callable[[str], Iterable[str]]
Kind = Literal["documentation", "types", "configuration"]
_READER_WORDS = ("__doc__", "getdoc", "__annotations__", "get_type_hints", "get_annotations", "annotation")


@dataclass(frozen=True, slots=True, kw_only=True)
class InertDifference:
    """Where a change alters what runs.

    Attributes:
        line: of the changed file, 0 where the file as a whole is meant.
    """

    path: str
    line: int
    why: str

    @property
    def text(self) -> str:
        """For people: the place and the reason."""
        return f"{self.path}:{self.line} {self.why}" if self.line else f"{self.path} {self.why}"


class InertContext:
    """The two trees, and what the changed one's own code reads of itself; looked up once."""

    def __init__(self, before: Read, after: Read, files: frozenset[str], mentions: Mentions) -> None:
        self.before, self.after, self.files, self.mentions = before, after, files, mentions
        self._readers: Readers | None = None

    @cached_property
    def nobody(self) -> Readers:
        """As if no file of the project read docstrings or annotations."""
        return Readers(roots=_roots(self.files))

    def readers(self) -> Readers:
        """Which of the project's product files read docstrings or annotations."""
        if self._readers is None:
            docs = notes = ""
            for path in sorted({path for word in _READER_WORDS for path in self.mentions(word)}):
                tree = parse_python(text_of(self.after(path))) if is_python(path) and not is_test_path(path) else ""
                if isinstance(tree, ast.Module):
                    doc_line, note_line = reads(tree)
                    docs = docs or (f"{path}:{doc_line}" if doc_line else "")
                    notes = notes or (f"{path}:{note_line}" if note_line else "")
            self._readers = Readers(docs=docs, annotations=notes, roots=self.nobody.roots)
        return self._readers


def _roots(files: frozenset[str]) -> frozenset[str]:
    """The names under which the project's modules are imported."""
    return frozenset(_root_names(files))


def _root_names(files: frozenset[str]) -> Iterator[str]:
    for path in files:
        if is_python(path):
            first, *below = path.split("/", 2)
            yield first if below else first.removesuffix(".py")
            if below and first in ("src", "lib", "python"):
                yield below[0] if len(below) > 1 else below[0].removesuffix(".py")


def is_python(path: str) -> bool:
    """Whether a path is that of a Python file."""
    return path.endswith(".py")


def text_of(data: bytes | None) -> str:
    """The text of a file, with `\\n` as line end; nothing for one that is not there."""
    return (data or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n")
