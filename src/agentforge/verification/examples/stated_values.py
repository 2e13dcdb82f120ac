"""What a test file states: its code without comments, its strings and numbers as their language reads them. Pure."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import broken, parsed, span, unwrapped
from agentforge.verification.examples.claims_javascript import number_of, piece_of
from agentforge.workspace.code.symbols import parse_python

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_BETWEEN = "\n\0\n"
"""Stands between two values: no value of a request goes across it."""
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([\\'\"`ntr]))")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}
_TEXTS = frozenset({"STRING", "FSTRING_MIDDLE"})
_PIECES = frozenset({"string_fragment", "escape_sequence"})
_LAST = 0x10FFFF


def stated_in(path: str, source: str) -> str:
    """Give what a file states: its code without comments, and the value of each of its literals, in whatever way it is spelled.

    A file of another language, or one that does not parse, gives its text, and the same text without its escapes.
    """
    try:
        if PurePosixPath(path).suffix in (".py", ".pyi"):
            found = _of_python(source)
        else:
            root = parsed(path, source)
            found = _of_javascript(root, source) if root is not None and not broken(root) else None
    except RecursionError:
        found = None
    return found if found is not None else _BETWEEN.join((source, unescaped(source)))


def unescaped(text: str) -> str:
    """The text with the escapes that most languages share undone."""
    return _ESCAPE.sub(_meant, text)


def _meant(match: re.Match[str]) -> str:
    number = match.group(1) or match.group(2) or match.group(3)
    if number is None:
        return _MEANT.get(match.group(4), match.group(4))
    return chr(int(number, 16)) if int(number, 16) <= _LAST else match.group()


def _code(source: str, left_out: Sequence[tuple[int, int]]) -> str:
    """The source without some stretches of it, which are in order, and with its numbers in one piece."""
    starts, ends = [one for one, _ in left_out], [one for _, one in left_out]
    kept = (source[last:first] for last, first in zip([0, *ends], [*starts, len(source)], strict=True))
    return re.sub(r"(?<=\d)_(?=\d)", "", " ".join(kept))


def _of_python(source: str) -> str | None:
    """None where Python does not read the text."""
    module = parse_python(source)
    if not isinstance(module, ast.Module):
        return None
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    starts = [0]
    for line in io.StringIO(source):
        starts.append(starts[-1] + len(line))
    left_out = [
        (starts[one.start[0] - 1] + one.start[1], starts[one.end[0] - 1] + one.end[1])
        for one in tokens
        if one.type == tokenize.COMMENT or tokenize.tok_name[one.type] in _TEXTS
    ]
    return _BETWEEN.join([_code(source, left_out), *_python_values(module)])


def _python_values(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            yield from (
                f"-{one}" for one in _of_constant(node.operand.value) if isinstance(node.operand.value, (int, float))
            )
        elif isinstance(node, ast.Constant):
            yield from _of_constant(node.value)
        elif isinstance(node, ast.FormattedValue):
            yield ast.unparse(node.value)
        elif isinstance(node, (ast.BinOp, ast.JoinedStr)) and (joined := _joined(node)) is not None:
            yield joined


def _of_constant(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "backslashreplace")
        yield value.decode("latin-1")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _in_figures(value)


def _in_figures(value: float) -> Iterator[str]:
    """How a number may be written in plain figures; nothing for one that is too long for them."""
    if isinstance(value, float):
        yield repr(value)
    if abs(value) < 1e15 and value == int(value):
        yield str(int(value))


def _joined(node: ast.AST) -> str | None:
    """The text that constants make when they are put together; None when anything else is among them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
        return str(node.value.value) if isinstance(node.value, ast.Constant) else None
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    elif isinstance(node, ast.JoinedStr):
        parts = node.values
    said = [_joined(one) for one in parts]
    return "".join(one for one in said if one is not None) if said and None not in said else None


def _of_javascript(root: SgNode, source: str) -> str:
    left_out = [one for kind in ("comment", "html_comment", *sorted(_PIECES)) for one in _every(root, kind)]
    found = [_code(source, sorted(span(one) for one in left_out))]
    for kind in ("string", "template_string"):
        for node in _every(root, kind):
            found += _runs(node)
    for node in _every(root, "binary_expression"):
        joined = _joined_javascript(node)
        found += [joined] if joined is not None else []
    for node in _every(root, "number"):
        before = node.parent()
        sign = "-" if before is not None and before.kind() == "unary_expression" and before.text()[0] == "-" else ""
        found += [sign + one for one in _in_figures(number_of(node.text()))]
    return _BETWEEN.join(found)


def _every(root: SgNode, kind: str) -> list[SgNode]:
    """All nodes of a kind; none where this grammar has no such kind."""
    try:
        return list(root.find_all(kind=kind))
    except RuntimeError:
        return []


def _runs(node: SgNode) -> list[str]:
    """The texts of a string between what is filled in when it runs."""
    runs = [""]
    for one in node.children():
        if one.kind() in _PIECES:
            runs[-1] += _read(one)
        elif one.is_named():
            runs.append("")
    return [_whole_characters(one) for one in runs]


def _read(node: SgNode) -> str:
    try:
        return piece_of(node)
    except ValueError:
        return node.text()


def _whole_characters(text: str) -> str:
    """The text with its halves of characters put together."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _joined_javascript(node: SgNode) -> str | None:
    """The text that strings joined with `+` make; None when anything else is among them."""
    node = unwrapped(node)
    if node.kind() in ("string", "template_string"):
        runs = _runs(node)
        return runs[0] if len(runs) == 1 else None
    left, sign, right = node.field("left"), node.field("operator"), node.field("right")
    if node.kind() != "binary_expression" or left is None or right is None or sign is None or sign.text() != "+":
        return None
    first, second = _joined_javascript(left), _joined_javascript(right)
    return first + second if first is not None and second is not None else None
