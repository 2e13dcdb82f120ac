"""From the nodes of a word to the word as bash sees it: literal parts, and what only the run knows.

Quote removal: from the source of a word to the text that bash passes on.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from agentforge.safety.shell.grammar.syntax import Opaque, ShellCommand, Word
from agentforge.safety.shell.grammar.variables import computed_in, counts

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    Folders = tuple[str | None, ...]

_PLAIN_EXPANSION = re.compile(
    r"\$\{(?:#?[A-Za-z_]\w*|[A-Za-z_]\w*(?:(?:##?|%%?|//?|:?-)[\w.*?/,+@=-]*|\^\^?|,,?|:\d+(?::\d+)?))\}"
)
_PLAIN_ARITHMETIC = re.compile(r"\$\(\((?:\$\{?\w+\}?|[\w\s+*/%()-])*\)\)")
_NUMBERS = re.compile(r"\$[?#$]|\$\{#\w+\}")
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
        self.bound: dict[str, Word] = {}  # what is known of variables here
        self.computed: set[str] = set()  # names that arithmetic reads

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
        flags = {"glob": False, "tilde": False, "splits": False, "loose": False}
        self._pieces(node, pieces, flags)
        return Word(
            text=node.text(),
            pieces=tuple(pieces),
            glob=flags["glob"],
            splits=flags["splits"],
            whole=None in pieces and not flags["loose"],
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
            flags["loose"] |= kind != "command_substitution" or not counts(node)
        elif kind == "brace_expression" and _RANGE.fullmatch(text):
            flags["splits"] = True
        elif kind == "arithmetic_expansion" and _PLAIN_ARITHMETIC.fullmatch(text):
            self.computed |= computed_in(text)
        else:
            self.refuse(node, f"{kind.replace('_', ' ')} is not understood")

    def _concatenation(self, node: SgNode, pieces: list[str | None], flags: dict[str, bool]) -> None:
        marks = [child.text() for child in node.children() if child.kind() == "word"]
        if "{" in marks and "}" in marks and ("," in node.text() or ".." in node.text()):
            flags["glob"] = flags["splits"] = flags["loose"] = True
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
        flags["loose"] |= item is not None and None in item.pieces and not item.whole
        flags["loose"] |= item is None and _NUMBERS.fullmatch(text) is None
        flags["glob"] |= item is not None and item.glob
        flags["splits"] |= (item is None or item.glob or item.splits) and _NUMBERS.fullmatch(text) is None


_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))|([^\\]+)|(\\)", re.DOTALL
)
_ANSI_LETTERS = {
    **{"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"},
    **{"\\": "\\", "'": "'", '"': '"', "?": "?"},
}
_GLOB = re.compile(r"(?<!\\)(?:\\\\)*[*?\[]")


def unescape(text: str) -> str:
    """Remove backslashes from an unquoted word; a backslash before a newline goes with it."""
    return re.sub(r"\\(.)", lambda match: "" if match[1] == "\n" else match[1], text, flags=re.DOTALL)


def unescape_double(text: str) -> str:
    """Remove the backslashes that mean something inside double quotes."""
    return re.sub(r'\\([$`"\\\n])', lambda match: "" if match[1] == "\n" else match[1], text)


def decode_ansi(text: str) -> str:
    """Decode the inside of $'...'; what bash would cut at a NUL is cut here too."""
    out = []
    for match in _ANSI.finditer(text):
        hexa, short, wide, octal, control, letter, plain, lone = match.groups()
        code = hexa or short or wide
        if code:
            out.append(chr(min(int(code, 16), 0x10FFFF)))
        elif octal:
            out.append(chr(int(octal, 8) & 0xFF))
        elif control:
            out.append(chr(ord(control) & 0x1F))
        elif letter:
            out.append(_ANSI_LETTERS.get(letter, "\\" + letter))
        else:
            out.append(plain or lone)
    return "".join(out).partition("\0")[0]


def has_glob(text: str) -> bool:
    """Whether an unquoted word holds an unescaped pattern character."""
    return _GLOB.search(text) is not None
