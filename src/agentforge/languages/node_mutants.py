"""Mutants of a file made by replacing nodes of its syntax tree, for every language that says which nodes and by what.

The changes that most grammars share are made here: operators, constants, conditions, choices that go one way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from agentforge.languages.changed_part import changed_part
from agentforge.languages.language import Mutant, short

if TYPE_CHECKING:
    from ast_grep_py import SgNode

Change = tuple[str, "SgNode", str]
"""The operator's name, the node that is replaced, the new text."""

OPERATORS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "and": "or", "or": "and",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "**": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
}  # fmt: skip
"""What becomes of an operator that is spelled alike in most languages."""
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "**", "+=", "-=", "*=", "/="))
_BOOLEAN = frozenset(("&&", "||", "and", "or"))


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


def operator_changes(
    node: SgNode, *, texts: Collection[str], operators: Mapping[str, str] = OPERATORS
) -> Iterator[Change]:
    """Another operator, and of `a && b` each operand alone; what is surely text is not subtracted, because it would only crash.

    Args:
        texts: kinds of nodes that are texts.
    """
    left, right, sign = node.field("left"), node.field("right"), node.field("operator")
    if left is None or right is None or sign is None or sign.text() not in operators:
        return
    said = sign.text()
    if said in _BOOLEAN:
        yield "branch", node, f"({left.text()})"
        yield "branch", node, f"({right.text()})"
    if said not in ("+", "+=") or not any(one.kind() in texts for one in (left, right)):
        kind = "arithmetic" if said in _ARITHMETIC else "boolean" if said in _BOOLEAN else "comparison"
        yield kind, sign, operators[said]


def constant_changes(
    node: SgNode, *, numbers: Collection[str], texts: Collection[str], one: str = "1"
) -> Iterator[Change]:
    """A number is one off, a truth value is turned round, a text is another.

    Args:
        numbers, texts: kinds of nodes.
        one: what is added to a number that is written in another way than by decimal digits.
    """
    kind, text = node.kind(), node.text()
    if kind in numbers and not node.children():
        yield "constant", node, str(int(text) + 1) if text.isdecimal() else f"({text} + {one})"
    elif text in ("true", "false") and node.is_named():
        yield "constant", node, "false" if text == "true" else "true"
    elif kind in texts and text[:1] in ('"', "'", "`"):
        yield "constant", node, '"mutated"' if len(text) == 2 else '""'


def condition_changes(node: SgNode, *, operators: Mapping[str, str] = OPERATORS) -> Iterator[Change]:
    """The condition of a choice or loop becomes its contrary, where no operator of it can be turned."""
    test = node.field("condition")
    inner = test
    while inner is not None and inner.kind() == "parenthesized_expression":
        inner = inner.child(1)
    if test is None or inner is None:
        return
    sign = inner.field("operator") if inner.kind() in ("binary_expression", "binary") else None
    if sign is None or sign.text() not in operators:
        yield "condition", test, f"(!({inner.text()}))" if test is not inner else f"!({inner.text()})"


def value_changes(node: SgNode) -> Iterator[Change]:
    """A conditional expression always gives the one value, or the other."""
    for name in ("consequence", "alternative"):
        value = node.field(name)
        if value is not None:
            yield "branch", node, f"({value.text()})"


def is_called(node: SgNode) -> bool:
    """Whether a name is that of a method or function that is called."""
    kinds = [one.kind() for one in node.ancestors()][:2]
    return bool(kinds) and ("method_invocation" in kinds[:1] or "call_expression" in kinds)
