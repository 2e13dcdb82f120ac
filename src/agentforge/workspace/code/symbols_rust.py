"""What Rust defines beyond its plain items: in the text of macros, in blocks of a type, in modules of tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_DEFINING = {"fn": "function", "struct": "type", "enum": "type", "trait": "type", "union": "type"}
_NAMES = frozenset({"identifier", "type_identifier", "metavariable"})
_BEFORE = frozenset({"pub", "const", "async", "unsafe", "extern", "default"})
_CONDITION = re.compile(r"#\[cfg\((.*?),?\)\]")
_TARGET = re.compile(r"&?\s*(?:'\w+\s+)?(?:(?:mut|dyn)\s+)*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroItem:
    """A definition in the text of a macro, which the grammar does not read.

    Attributes:
        line, end_line: from 1, both inclusive.
        stub: it ends before it has a body.
    """

    name: str
    kind: str
    line: int
    end_line: int
    signature: str
    stub: bool


def target_of(text: str) -> str:
    """The name of the type that an `impl` block is for: `Thing` of `&'a mut some::Thing<T>`."""
    found = _TARGET.match(text.strip())
    name = (found[1] if found else text).partition("<")[0].partition(" + ")[0]
    return name.strip().rpartition("::")[2] if re.match(r"[\w:]+$", name.strip()) else name.strip()


def holds_tests(node: SgNode) -> bool:
    """Whether a module is compiled for tests alone."""
    before = node.prev()
    while before is not None and before.kind() in ("attribute_item", "line_comment", "block_comment"):
        if before.kind() == "attribute_item" and is_for_tests(before.text()):
            return True
        before = before.prev()
    return False


def is_for_tests(attribute: str) -> bool:
    """Whether an attribute keeps what it stands before out of everything but tests: `#[cfg(test)]`, `#[cfg(all(test, unix))]`."""
    found = _CONDITION.fullmatch("".join(attribute.split()))
    return found is not None and _needs_test(found[1])


def _needs_test(condition: str) -> bool:
    if not (condition.startswith("all(") and condition.endswith(")")):
        return condition == "test"
    depth, parts = 0, [""]
    for sign in condition[len("all(") : -1]:
        depth += (sign == "(") - (sign == ")")
        parts = [*parts, ""] if sign == "," and not depth else [*parts[:-1], parts[-1] + sign]
    return any(map(_needs_test, parts))


def written_in(macro: SgNode) -> Iterator[MacroItem]:
    """List the functions and types that stand in the rules of a macro, or in what one is called with."""
    for child in macro.children():
        if child.kind() in ("macro_rule", "token_tree"):
            yield from written_in(child)
    if macro.kind() == "token_tree":
        yield from _in_tokens(macro.children())


def _in_tokens(tokens: list[SgNode]) -> Iterator[MacroItem]:
    for place, (word, name) in enumerate(pairwise(tokens)):
        kind = _DEFINING.get(word.text())
        if kind is None or name.kind() not in _NAMES:
            continue
        end = next((one for one in tokens[place + 2 :] if _is_end(one)), None)
        if end is None:
            continue
        first = place
        while first and (tokens[first - 1].text() in _BEFORE or tokens[first - 1].text().startswith("(")):
            first -= 1
        head = [*tokens[first : tokens.index(end, place)]]
        yield MacroItem(
            name=name.text().lstrip("$"),
            kind=kind,
            line=tokens[first].range().start.line + 1,
            end_line=end.range().end.line + 1,
            signature=" ".join(one.text() for one in head),
            stub=end.text() == ";",
        )


def _is_end(token: SgNode) -> bool:
    return token.text() == ";" or (token.kind() == "token_tree" and token.text().startswith("{"))
