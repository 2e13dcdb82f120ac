"""Where the tests stand in a product file of Rust: modules that are compiled for tests alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.languages.language import TestPart
from agentforge.workspace.code.symbols_rust import is_for_tests

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_COMMENTS = ("line_comment", "block_comment")


def rust_test_parts(node: SgNode, modules: tuple[str, ...] = ()) -> Iterator[TestPart]:
    """Yield each module behind `#[cfg(test)]`, with its attributes and documentation; one that cannot be parsed is none."""
    before: list[SgNode] = []
    for child in node.children():
        if child.kind() == "attribute_item" or child.kind() in _COMMENTS:
            before.append(child)
            continue
        name, body = child.field("name"), child.field("body")
        if child.kind() == "mod_item" and name is not None:
            inside = (*modules, name.text())
            if any(one.kind() == "attribute_item" and is_for_tests(one.text()) for one in before):
                if child.find(kind="ERROR") is None:
                    yield TestPart(name="::".join(inside), first=_first(before), last=child.range().end.index)
            elif body is not None:
                yield from rust_test_parts(body, inside)
        before = []


def _first(before: list[SgNode]) -> int:
    """Where the first attribute stands, or the first line of documentation; any other comment belongs to the product."""
    own = (one for one in before if one.kind() not in _COMMENTS or one.text().startswith(("///", "/**")))
    return next(own).range().start.index
