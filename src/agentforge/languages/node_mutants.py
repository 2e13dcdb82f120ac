"""Mutants of a file made by replacing nodes of its syntax tree, for every language that says which nodes and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agentforge.languages.changed_part import changed_part
from agentforge.languages.mutant import Mutant, short

if TYPE_CHECKING:
    from ast_grep_py import SgNode

Change = tuple[str, "SgNode", str]
"""The operator's name, the node that is replaced, the new text."""


def span(node: SgNode) -> tuple[int, int]:
    """Tell where a node stands in its text."""
    return node.range().start.index, node.range().end.index


def node_mutants(
    path: str,
    text: str,
    changes: Iterable[tuple[str, Change]],
    *,
    lines: int,
    before: bytes | None,
    parses: Callable[[str], bool] = lambda _text: True,
) -> tuple[Mutant, ...]:
    """Make a mutant of each change that stands in a changed part of the file, in the order of lines.

    Args:
        changes: each with the name of the function that holds it.
        lines: a bit for each changed line.
        before: the file as it was, whose parts of a changed line are left out; None = nothing is.
        parses: whether a mutated text is one of the language.
    """
    part = changed_part(None if before is None else before.decode("utf-8", "replace"), text, lines=lines)
    found: list[Mutant] = []
    seen = {text}
    for owner, (kind, node, new) in changes:
        start, end = span(node)
        made = f"{text[:start]}{new}{text[end:]}"
        if not part.holds_node(node) or made in seen or not parses(made):
            continue
        seen.add(made)
        first, last = node.range().start.line + 1, node.range().end.line + 1
        found.append(
            Mutant(
                path=path, line=first, last=last, kind=kind, owner=owner, before=short(node.text()),
                after=short(new), data=made.encode(),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.line))
