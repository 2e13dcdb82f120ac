"""The same as `hollow.py` for JavaScript and TypeScript: with every changed function wrong, the targets must fail again.

A target is told hollow only when it passes though the changed functions throw, and passes though they return a wrong value: one
that expects an exception rightly passes the first alone. Nothing is told of a change that is partly data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agentforge.languages.stub_values import drawn
from agentforge.suite.test_environment import Edits, Rig, run_tree
from agentforge.workspace.code.symbols import LANGUAGES

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_GRAMMARS = frozenset({"javascript", "typescript", "tsx"})
_FUNCTIONS = (
    "function_declaration",
    "function_expression",
    "generator_function_declaration",
    "arrow_function",
    "method_definition",
)
_WRONG = ('throw new Error("wrong on purpose");', 'return "\\u0000wrong";')
_NEUTRAL = re.compile(
    r"\s*(?:$|//|/\*|\*|import\b|export\s*[{*]|(?:const|let|var)\s+[\w${},\s:]+=\s*require\(|[\w$.]+\s*=\s*[A-Za-z_$][\w$]*\s*;?$"
    r"|(?:module\.)?exports(?:\.[\w$]+)?\s*=\s*\{?[\w$\s,]*\}?\s*;?$"
    r"|[A-Za-z_$][\w$]*,?$|[^\w\"'`]*$)"
)
_DOCUMENTS = (".md", ".txt", ".d.ts")


def hollow_javascript(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits
) -> tuple[str, ...]:
    """Run the targets against the tree with wrong bodies of all changed functions.

    Returns:
        ids of targets that pass under both wrong bodies; () when there is nothing to replace, or nothing can be told.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_DOCUMENTS)]
    if not targets or any(LANGUAGES.get(PurePosixPath(one).suffix) not in _GRAMMARS for one in product):
        return ()
    left = set(targets)
    files = tuple(dict.fromkeys(nodeid.partition("::")[0] for nodeid in targets))
    for body in (drawn(one, seed=tree) for one in _WRONG):
        wrong: dict[str, bytes | None] = {}
        for path in product:
            text = _with_body(path, rig.git.show(base_tree, path), rig.git.show(tree, path), body)
            if text is None:
                return ()
            wrong |= {path: text} if text else {}
        if not wrong:
            return ()
        left &= set(run_tree(rig, tree, tests=files, edits=Edits(files={**edits.files, **wrong})).passed_ids)
        if not left:
            return ()
    return tuple(sorted(left))


def _with_body(path: str, before: bytes | None, after: bytes | None, body: str) -> bytes | None:
    """The text with a statement put before the bodies of changed functions; empty when none changed, None when data did."""
    if after is None:
        return None
    old, new = (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    grammar = LANGUAGES[PurePosixPath(path).suffix]
    was, now = _changed(grammar, new, old), _changed(grammar, old, new)
    if not _only_functions(old, new, was) or not _only_functions(new, old, now):
        return None
    data = new
    for node in sorted(now, key=lambda one: one.range().start.index, reverse=True):
        inside = node.field("body")
        if inside is None:
            return None
        start, end = inside.range().start.index, inside.range().end.index
        if inside.kind() == "statement_block":
            data = f"{data[: start + 1]} {body} {data[start + 1 :]}"
        else:
            data = f"{data[:start]}{{ {body} }}{data[end:]}"
    return data.encode("utf-8", "surrogateescape") if now else b""


def _changed(grammar: str, other: str, text: str) -> list[SgNode]:
    """The innermost functions of a text that the other text does not have."""
    from ast_grep_py import SgRoot

    known = {node.text() for node in _functions(SgRoot(other, grammar).root())}
    fresh = [node for node in _functions(SgRoot(text, grammar).root()) if node.text() not in known]
    spans = [(node.range().start.index, node.range().end.index) for node in fresh]
    return [
        node
        for node, (start, end) in zip(fresh, spans, strict=True)
        if not any(start <= first and last <= end and (first, last) != (start, end) for first, last in spans)
    ]


def _functions(root: SgNode) -> Iterator[SgNode]:
    yield from root.find_all({"rule": {"any": [{"kind": kind} for kind in _FUNCTIONS]}})


def _only_functions(text: str, other: str, functions: Sequence[SgNode]) -> bool:
    """Whether the lines that the other text does not have lie in the given functions, or say nothing (exports, comments)."""
    known = set(other.splitlines())
    inside = {line for node in functions for line in range(node.range().start.line, node.range().end.line + 1)}
    return all(
        number in inside or line in known or _NEUTRAL.match(line) is not None
        for number, line in enumerate(text.splitlines())
    )
