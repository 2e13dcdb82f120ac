"""Where the grammar and bash are known to read a line differently: such a line counts as not understood."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_LONGEST = 16_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]")
_GLUED = re.compile(r"(?:^|\S)\\\n")
_SPACES = re.compile(r"\\\n|\s+")


def why_unreadable(line: str) -> str | None:
    """Say why a line is not even read, or None."""
    if len(line) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    found = _CONTROL.search(line)
    if found is not None:
        return f"holds the character U+{ord(found[0]):04X}, which shells and people read differently"
    if any("\ud800" <= one <= "\udfff" for one in line):
        return "is not valid text"
    return None


def glues(root: SgNode, line: str) -> bool:
    """Whether a word goes on in the next line; inside quotes that keep every sign, a backslash is text and glues nothing."""
    kept = [one.range() for one in _kept(root)]
    return any(
        not any(one.start.index <= found.end() - 2 < one.end.index for one in kept) for found in _GLUED.finditer(line)
    )


def _kept(node: SgNode) -> Iterable[SgNode]:
    """The single-quoted words, and the bodies of here documents whose name is quoted."""
    if node.kind() == "raw_string":
        yield node
        return
    children = node.children()
    names = [child.text() for child in children if child.kind() == "heredoc_start"]
    for child in children:
        if child.kind() != "heredoc_body":
            yield from _kept(child)
        elif any(mark in name for name in names for mark in "'\"\\"):
            yield child


def covers(root: SgNode, line: str) -> bool:
    """Whether the leaves of the tree, white space aside, are the line itself."""
    return "".join(_SPACES.sub("", leaf) for leaf in _leaves(root)) == _SPACES.sub("", line)


def has_error(node: SgNode) -> bool:
    """Whether the grammar gave up on a part of the tree."""
    return node.kind() == "ERROR" or any(has_error(child) for child in node.children())


def ends_plainly(heredoc: SgNode) -> bool:
    """Whether the first line that is the document's name is where the grammar ends it too."""
    texts = {str(child.kind()): child.text() for child in heredoc.children()}
    name, end, body = texts.get("heredoc_start", ""), texts.get("heredoc_end", ""), texts.get("heredoc_body", "")
    word = re.sub(r"[\"'\\]", "", name)
    lines = [text.lstrip("\t") if "<<-" in texts else text for text in body.split("\n")]
    return bool(re.fullmatch(r"\w+", word)) and end == word and word not in lines


def _leaves(node: SgNode) -> Iterable[str]:
    children = node.children()
    if not children or node.kind() == "heredoc_body":
        yield node.text()
        return
    for child in children:
        yield from _leaves(child)
