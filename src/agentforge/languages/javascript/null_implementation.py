"""A JavaScript or TypeScript file in which every changed function is wrong: it throws, or gives a text that nobody wants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import FUNCTIONS, parsed, span
from agentforge.languages.stub_values import NullWay, drawn

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_RAISES, _GIVES = 'throw new Error("wrong on purpose");', 'return "\\u0000wrong";'
_NEUTRAL = re.compile(
    r"\s*(?:$|//|/\*|\*|import\b|export\s*[{*]|(?:const|let|var)\s+[\w${},\s:]+=\s*require\(|[\w$.]+\s*=\s*[A-Za-z_$][\w$]*\s*;?$"
    r"|(?:module\.)?exports(?:\.[\w$]+)?\s*=\s*\{?[\w$\s,]*\}?\s*;?$"
    r"|[A-Za-z_$][\w$]*,?$|[^\w\"'`]*$)"
)


def javascript_null(path: str, before: bytes | None, after: bytes, *, way: NullWay) -> bytes | None:
    """Put a wrong statement before the bodies of changed functions; b"" when none changed, None when data did."""
    old, new = (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    was, now = _changed(path, new, old), _changed(path, old, new)
    if not _only_functions(old, new, was) or not _only_functions(new, old, now):
        return None
    body = _RAISES if way.raising else drawn(_GIVES, seed=way.seed)
    data = new
    for node in sorted(now, key=lambda one: span(one)[0], reverse=True):
        inside = node.field("body")
        if inside is None:
            return None
        start, end = span(inside)
        if inside.kind() == "statement_block":
            data = f"{data[: start + 1]} {body} {data[start + 1 :]}"
        else:
            data = f"{data[:start]}{{ {body} }}{data[end:]}"
    return data.encode("utf-8", "surrogateescape") if now else b""


def _changed(path: str, other: str, text: str) -> list[SgNode]:
    """The innermost functions of a text that the other text does not have."""
    known = {node.text() for node in _functions(path, other)}
    fresh = [node for node in _functions(path, text) if node.text() not in known]
    spans = [span(node) for node in fresh]
    return [
        node
        for node, (start, end) in zip(fresh, spans, strict=True)
        if not any(start <= first and last <= end and (first, last) != (start, end) for first, last in spans)
    ]


def _functions(path: str, text: str) -> list[SgNode]:
    root = parsed(path, text)
    if root is None:
        return []
    return root.find_all({"rule": {"any": [{"kind": kind} for kind in sorted(FUNCTIONS)]}})


def _only_functions(text: str, other: str, functions: Sequence[SgNode]) -> bool:
    """Whether the lines that the other text does not have lie in the given functions, or say nothing (exports, comments)."""
    known = set(other.splitlines())
    inside = {line for node in functions for line in range(node.range().start.line, node.range().end.line + 1)}
    return all(
        number in inside or line in known or _NEUTRAL.match(line) is not None
        for number, line in enumerate(text.splitlines())
    )
