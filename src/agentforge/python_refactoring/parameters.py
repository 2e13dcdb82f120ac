"""The parameters of a `def` as text: read one by one with their comments, and written again in the same layout. Pure."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentforge.python_refactoring.edits import Edit, Unclear, offset, span

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One entry between the brackets.

    Attributes:
        name: "*" and "/" are the marks.
        text: with annotation and default, as it stands.
        sort: positional, mark, vararg, keyword, kwarg.
        comment: behind it on its line, "" none.
    """

    name: str
    text: str
    sort: str
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterList:
    """The parameters of a function and where they stand.

    Attributes:
        start, end: of what stands between the brackets.
        indent: of each line, None where they stand on one line.
        trailing: a comma stands behind the last one.
    """

    parameters: tuple[Parameter, ...]
    start: int
    end: int
    indent: str | None
    trailing: bool
    closing: str = ""

    def written(self, parameters: Sequence[Parameter]) -> Edit:
        """Other parameters in the same layout."""
        if self.indent is None or not parameters:
            return Edit(start=self.start, end=self.end, text=", ".join(one.text for one in parameters))
        lines = []
        for number, one in enumerate(parameters):
            last = number == len(parameters) - 1
            sign = "" if last and not self.trailing else ","
            lines.append(f"{self.indent}{one.text}{sign}{'  ' + one.comment if one.comment else ''}")
        return Edit(start=self.start, end=self.end, text="\n" + "\n".join(lines) + f"\n{self.closing}")


def listed(text: str, node: Function) -> ParameterList:
    """Read the parameters of a function.

    Raises:
        Unclear: comments stand between them in a way that cannot be kept.
    """
    start, end, comments = _brackets(text, node)
    rows, inner = _rows(text, node), text[start:end]
    if "\n" not in inner:
        return ParameterList(
            parameters=tuple(one for one, _ in rows), start=start, end=end, indent=None, trailing=False
        )
    found = tuple(replace(one, comment=comments.pop(line, "")) for one, line in rows)
    if comments:
        raise Unclear(f"line {min(comments)} has a comment of its own between the parameters of {node.name}")
    lines = inner.splitlines()
    first = next((line for line in lines[1:] if line.strip()), "")
    code = "".join(line.partition("#")[0] for line in lines).rstrip()
    return ParameterList(
        parameters=found,
        start=start,
        end=end,
        indent=first[: len(first) - len(first.lstrip())] or " " * (node.col_offset + 4),
        trailing=code.endswith(","),
        closing=lines[-1] if not lines[-1].strip() else " " * node.col_offset,
    )


def _brackets(text: str, node: Function) -> tuple[int, int, dict[int, str]]:
    """What stands between the brackets, and the comments there by line."""
    first = offset(text, node.lineno, 0)
    depth, start, comments = 0, 0, dict[int, str]()
    for token in tokenize.generate_tokens(io.StringIO(text[first:]).readline):
        line = token.start[0] + node.lineno - 1
        if token.type == tokenize.COMMENT and depth:
            comments[line] = token.string
        elif token.type == tokenize.OP and token.string in "([{":
            depth += 1
            if depth == 1 and not start:
                start = first + _at(text[first:], token.end)
        elif token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
            if depth == 0:
                return start, first + _at(text[first:], token.start), comments
    raise Unclear(f"line {node.lineno} has no parameters that can be read")


def _at(text: str, place: tuple[int, int]) -> int:
    lines = text.splitlines(keepends=True)
    return sum(len(one) for one in lines[: place[0] - 1]) + place[1]


def _rows(text: str, node: Function) -> list[tuple[Parameter, int]]:
    """The parameters in their order, each with the line on which it ends."""
    given, rows = node.args, list[tuple[Parameter, int]]()
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    for number, (one, default) in enumerate(zip(positional, defaults, strict=True), 1):
        rows.append(_row(text, one, default, "positional"))
        if number == len(given.posonlyargs):
            rows.append((Parameter(name="/", text="/", sort="mark"), rows[-1][1]))
    if given.vararg is not None:
        rows.append(_row(text, given.vararg, None, "vararg"))
    elif given.kwonlyargs:
        rows.append((Parameter(name="*", text="*", sort="mark"), rows[-1][1] if rows else node.lineno))
    rows += [
        _row(text, one, default, "keyword") for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg is not None:
        rows.append(_row(text, given.kwarg, None, "kwarg"))
    return rows


def _row(text: str, node: ast.arg, default: ast.expr | None, sort: str) -> tuple[Parameter, int]:
    start, end = span(text, node)
    if default is not None:
        end = _behind(text, span(text, default)[1], start)
    stars = {"vararg": "*", "kwarg": "**"}.get(sort, "")
    last = default if default is not None else node
    return Parameter(name=node.arg, text=f"{stars}{text[start:end]}", sort=sort), last.end_lineno or node.lineno


def _behind(text: str, end: int, start: int) -> int:
    """The end of a default with the brackets around it, which the tree does not hold."""
    while text[start:end].count("(") > text[start:end].count(")"):
        closing = text.find(")", end)
        if closing < 0:
            break
        end = closing + 1
    return end
