"""Splices of source text: statements, aliases and entries are taken out, and everything else stays letter for letter. Pure."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from agentforge.frozen import dataclass

_Element = ast.expr | ast.alias | ast.arg | ast.keyword


class Unclear(ValueError):
    """The tree alone cannot make the change; says why, as a sentence for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Characters `start` to `end` (without it) become `text`."""

    start: int
    end: int
    text: str = ""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits, which must not overlap; the same edit twice is one.

    Raises:
        Unclear: two edits overlap.
    """
    last = len(text) + 1
    for one in sorted(set(edits), key=lambda edit: (edit.start, edit.end), reverse=True):
        if one.end > last:
            raise Unclear("two changes meet in one place")
        text, last = text[: one.start] + one.text + text[one.end :], one.start
    return text


def offset(text: str, line: int, column: int) -> int:
    """Where a place of the tree is in the text.

    Args:
        line: from 1; column: in bytes of UTF-8, as the tree counts.
    """
    lines = text.splitlines(keepends=True)
    before = sum(len(one) for one in lines[: line - 1])
    return before + (len(lines[line - 1].encode()[:column].decode("utf-8", "ignore")) if line <= len(lines) else 0)


def span(text: str, node: ast.stmt | ast.expr | ast.arg | ast.alias | ast.keyword) -> tuple[int, int]:
    """Start and end of a node in the text."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return offset(text, node.lineno, node.col_offset), offset(text, end_line, end_column)


def segment(text: str, node: ast.stmt | ast.expr | ast.arg | ast.alias | ast.keyword) -> str:
    """The text of a node."""
    start, end = span(text, node)
    return text[start:end]


def first_line(text: str, node: ast.stmt) -> int:
    """Where a statement begins: with its decorators, and the comment that stands directly above it."""
    line = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    lines = text.splitlines()
    while line > 1 and lines[line - 2].strip().startswith("#") and _indent(lines[line - 2]) == node.col_offset:
        line -= 1
    return 1 if line == 1 else line + 1 if lines[line - 1].startswith(("#!", "# -*-")) else line


def statement_text(text: str, node: ast.stmt) -> str:
    """Whole lines of a statement, its decorators and its comment."""
    return "\n".join(text.splitlines()[first_line(text, node) - 1 : node.end_lineno])


def cut(text: str, tree: ast.AST, gone: Collection[ast.stmt]) -> list[Edit]:
    """Take out statements with the blank lines that they leave; a body that would be empty gets `pass`.

    Raises:
        Unclear: a statement shares its line with another one.
    """
    out: list[Edit] = []
    for owner in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(owner, field, None)
            if not isinstance(block, list) or not any(one in gone for one in block):
                continue
            if isinstance(owner, ast.Module) or any(one not in gone for one in block):
                out += [_cut_lines(text, run, block) for run in _runs(block, gone)]
            elif field == "body":
                start = offset(text, first_line(text, block[0]), 0)
                end = span(text, block[-1])[1]
                out.append(Edit(start=start, end=end, text=" " * block[0].col_offset + "pass"))
            else:
                raise Unclear(f"line {block[0].lineno} is all that a branch holds")
    return out


def _runs(block: Sequence[ast.stmt], gone: Collection[ast.stmt]) -> list[list[ast.stmt]]:
    """Neighbours that go, together."""
    runs: list[list[ast.stmt]] = []
    for number, node in enumerate(block):
        if node in gone:
            if number and block[number - 1] in gone:
                runs[-1].append(node)
            else:
                runs.append([node])
    return runs


def drop(text: str, elements: Sequence[_Element], gone: Collection[_Element]) -> list[Edit]:
    """Take some elements out of a list with commas; not all of them."""
    left = [one for one in elements if one not in gone]
    alone = [_own_lines(text, one) for one in elements if one in gone]
    if all(alone):
        return [one for one in alone if one is not None]
    first, last = elements[0], elements[-1]
    if "\n" not in text[span(text, first)[0] : span(text, last)[1]]:
        joined = ", ".join(segment(text, one) for one in left)
        return [Edit(start=span(text, first)[0], end=span(text, last)[1], text=joined)]
    out = []
    for number, one in enumerate(elements):
        if one not in gone:
            continue
        later = [other for other in elements[number + 1 :] if other not in gone]
        if later:
            out.append(Edit(start=span(text, one)[0], end=span(text, elements[number + 1])[0]))
        else:
            before = [other for other in elements[:number] if other not in gone][-1]
            out.append(Edit(start=span(text, before)[1], end=span(text, last)[1]))
            break
    return out


def _own_lines(text: str, node: _Element) -> Edit | None:
    """The lines of an element when nothing else stands on them but its comma and its comment."""
    lines = text.splitlines(keepends=True)
    start, end = span(text, node)
    end_line = node.end_lineno or node.lineno
    before = text[offset(text, node.lineno, 0) : start]
    after = text[end : offset(text, end_line, 0) + len(lines[end_line - 1])].strip()
    rest = after.removeprefix(",").strip()
    if before.strip() or (rest and not rest.startswith("#")) or not after.startswith(","):
        return None
    first = offset(text, node.lineno, 0)
    return Edit(start=first, end=offset(text, end_line, 0) + len(lines[end_line - 1]))


def _cut_lines(text: str, run: Sequence[ast.stmt], block: Sequence[ast.stmt]) -> Edit:
    first, last = run[0], run[-1]
    for other in block:
        if other not in run and (other.lineno == last.end_lineno or other.end_lineno == first.lineno):
            raise Unclear(f"line {other.lineno} holds another statement, too")
    lines = text.splitlines(keepends=True)
    start, end = first_line(text, first) - 1, last.end_lineno or last.lineno
    if lines[first.lineno - 1][: first.col_offset].strip():  # `if x: y = 1`
        raise Unclear(f"line {first.lineno} holds another statement, too")
    above = below = 0
    while start - above > 0 and not lines[start - above - 1].strip():
        above += 1
    while end + below < len(lines) and not lines[end + below].strip():
        below += 1
    if end + below >= len(lines):
        start, end = start - above, len(lines)
    elif start - above == 0 or lines[start - above - 1].rstrip().endswith(":"):
        end += below
    else:
        end += min(above, below)
    return Edit(start=sum(map(len, lines[:start])), end=sum(map(len, lines[:end])))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
