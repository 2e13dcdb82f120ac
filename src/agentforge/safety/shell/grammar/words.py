"""From the nodes of a word to the word as bash sees it: literal parts, and what only the run knows."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from agentforge.safety.shell.grammar.quoting import decode_ansi, has_glob, unescape, unescape_double
from agentforge.safety.shell.grammar.syntax import Opaque, ShellCommand, Word

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    Folders = tuple[str | None, ...]

_PLAIN_EXPANSION = re.compile(
    r"\$\{(?:#?[A-Za-z_]\w*|[A-Za-z_]\w*(?:(?:##?|%%?|//?|:?-)[\w.*?/,+@=-]*|\^\^?|,,?|:\d+(?::\d+)?))\}"
)
_RANGE = re.compile(r"\{-?\d+\.\.-?\d+(?:\.\.\d+)?\}")
_LEAVES = frozenset({"word", "number", "string_content", "raw_string", "ansi_c_string", "variable_name", "comment"})
WORD_KINDS = _LEAVES - {"string_content", "comment", "variable_name"} | {
    *("string", "concatenation", "simple_expansion", "expansion", "command_substitution", "process_substitution"),
    *("arithmetic_expansion", "brace_expression", "extglob_pattern"),
}


class Words(ABC):
    """Reads words, and through `statement` the commands inside them."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.commands: list[ShellCommand] = []
        self.opaque: list[Opaque] = []
        self.here: Folders = ("",)  # where the statement that is read may run
        self.bound: dict[str, Word] = {}  # variables of loops over words that are plain paths of the workspace

    def refuse(self, node: SgNode, reason: str) -> None:
        """Remember a piece that is not understood, and why."""
        self.opaque.append(Opaque(text=node.text()[:200], reason=reason))

    @abstractmethod
    def statement(self, node: SgNode, folders: Folders) -> Folders:
        """Read one statement; returns the folders in which the next one may run."""

    @abstractmethod
    def sequence(self, node: SgNode, folders: Folders) -> Folders:
        """Read the statements inside a node one after the other; returns the folders in which the next one may run."""

    def word(self, node: SgNode) -> Word:
        """Read one word, and the commands inside it."""
        pieces: list[str | None] = []
        flags = {"glob": False, "tilde": False, "splits": False}
        self._pieces(node, pieces, flags)
        return Word(
            text=node.text(),
            pieces=tuple(pieces),
            glob=flags["glob"],
            splits=flags["splits"],
            tilde=flags["tilde"],
        )

    def _pieces(self, node: SgNode, pieces: list[str | None], flags: dict[str, bool]) -> None:
        kind, text = str(node.kind()), node.text()
        if kind in ("word", "number", "extglob_pattern", "variable_name"):
            if not text:
                self.refuse(node, "a word is missing")
            flags["glob"] |= has_glob(text)
            flags["tilde"] |= not pieces and text.startswith("~")
            pieces.append(unescape(text))
        elif kind == "raw_string":
            pieces.append(text[1:-1])
        elif kind == "ansi_c_string":
            pieces.append(decode_ansi(text[2:-1]))
        elif kind == "string":
            self._string(node, pieces, flags)
        elif kind == "concatenation":
            self._concatenation(node, pieces, flags)
        elif kind in ("simple_expansion", "expansion"):
            self._expansion(node, pieces, flags)
        else:
            self._live(node, pieces, flags)

    def _live(self, node: SgNode, pieces: list[str | None], flags: dict[str, bool]) -> None:
        """A part that only the run knows; what runs inside it is read."""
        kind, text = str(node.kind()), node.text()
        if text in ("$(pwd)", "`pwd`") and not pieces:
            self.sequence(node, self.here)
            pieces.append(".")
            return
        pieces.append(None)
        if kind in ("command_substitution", "process_substitution"):
            self.sequence(node, self.here)
            flags["splits"] = True
        elif kind == "brace_expression" and _RANGE.fullmatch(text):
            flags["splits"] = True
        elif kind != "arithmetic_expansion" or not re.fullmatch(r"\$\(\([\w\s+*/%()-]*\)\)", text):
            self.refuse(node, f"{kind.replace('_', ' ')} is not understood")

    def _concatenation(self, node: SgNode, pieces: list[str | None], flags: dict[str, bool]) -> None:
        marks = [child.text() for child in node.children() if child.kind() == "word"]
        if "{" in marks and "}" in marks and ("," in node.text() or ".." in node.text()):
            flags["glob"] = flags["splits"] = True
            pieces.append(None)
            for child in node.children():
                self._pieces(child, [], dict(flags))
            return
        for child in node.children():
            if child.is_named():
                self._pieces(child, pieces, flags)
            else:
                self.refuse(node, f"has {child.text()!r} inside a word")

    def _string(self, node: SgNode, pieces: list[str | None], flags: dict[str, bool]) -> None:
        inner = node.text()[1:-1]
        live = [child for child in node.children() if child.is_named() and child.kind() != "string_content"]
        if not live:
            pieces.append(unescape_double(inner))
            return
        for child in node.children():
            if child.kind() == "string_content":
                pieces.append(unescape_double(child.text()))
            elif child.is_named():
                splits = flags["splits"]
                self._pieces(child, pieces, flags)
                flags["splits"] = splits

    def _expansion(self, node: SgNode, pieces: list[str | None], flags: dict[str, bool]) -> None:
        text = node.text()
        if text in ("$HOME", "${HOME}") and not pieces:
            flags["tilde"] = True
            pieces.append("~")
            return
        if text in ("$PWD", "${PWD}") and not pieces:
            pieces.append(".")
            return
        if node.kind() == "expansion" and not _PLAIN_EXPANSION.fullmatch(text):
            self.refuse(node, "this expansion may change variables or run code")
        item = self.bound.get(text.strip("${}"))
        pieces += item.pieces if item is not None else (None,)
        flags["glob"] |= item is not None and item.glob
        flags["splits"] |= (item is None or item.glob) and not text.startswith("${#")
