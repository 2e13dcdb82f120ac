"""Renaming by the syntax tree: no model is asked for what is mechanical. Pure."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import texts
from agentforge.pipeline.small_models.reading.leftover_wishes import leftover
from agentforge.pipeline.small_models.reading.request_parser import examples_of

_ASKED = re.compile(
    r"(?i)\brename\s+(?:the\s+)?(?:(?:function|method|class)\s+)?`?([a-z_][\w.]*)(?:\(\))?`?"
    r"(?:\s+(?:in|of|from)\s+[`\w./]+?)?\s+(?:to|into|as)\s+`?([a-z_]\w*)`?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """A name that gets another one, wherever it stands.

    Attributes:
        old: dotted inside its file; new: the last part alone.
        files: product files that hold it, its own first; tests: the same of test files.
        functions: ids of the test functions that use it.
        affected: the same, with all tests of a file that imports it at its top: as they stood, they can no longer be collected.
    """

    old: str
    new: str
    file: str
    kind: str
    line: int
    files: tuple[str, ...]
    tests: tuple[str, ...]
    functions: tuple[str, ...]
    affected: tuple[str, ...]

    @property
    def last(self) -> str:
        """The old name without its class."""
        return self.old.rpartition(".")[2]

    @property
    def new_name(self) -> str:
        """The new name, dotted."""
        owner = self.old.rpartition(".")[0]
        return f"{owner}.{self.new}" if owner else self.new


def rename_asked(request: str) -> tuple[str, str] | None:
    """Old and new name, when a request asks for exactly one renaming."""
    found = {(old, new) for old, new in _ASKED.findall(request)}
    return found.pop() if len(found) == 1 else None


def said_besides(request: str) -> str:
    """A sentence of a request for a renaming that may want something besides; "" there is none."""
    text = _ASKED.sub(" ; ", request)
    for example in examples_of(request):
        text = text.replace(example, " ; ")
    return leftover(text, names=rename_asked(request) or (), gone=False)


def renaming_of(state: RunState) -> Renaming | None:
    """The renaming that was measured, None when the request is another one."""
    value = state.facts.get("places", {}).get("rename")
    if not isinstance(value, Mapping) or not value:
        return None
    line = value.get("line")
    return Renaming(
        old=str(value.get("old")),
        new=str(value.get("new")),
        file=str(value.get("file")),
        kind=str(value.get("kind")),
        line=line if isinstance(line, int) else 1,
        files=tuple(texts(value.get("files"))),
        tests=tuple(texts(value.get("tests"))),
        functions=tuple(texts(value.get("functions"))),
        affected=tuple(texts(value.get("affected"))),
    )


def uses(source: str, name: str) -> bool:
    """Whether a name stands in a source as a name: not in a text, not in a comment."""
    return bool(lines_of(source, name))


def lines_of(source: str, name: str) -> list[int]:
    """The lines on which a name stands as a name."""
    return [token.start[0] for token in _tokens(source) if token.type == tokenize.NAME and token.string == name]


def ambiguous(source: str, name: str) -> str:
    """Why a name cannot be renamed in a file by what the tree alone says, "" when it can."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg) and node.arg == name:
            return f"a parameter is called {name}, too"
        if isinstance(node, ast.keyword) and node.arg == name:
            return f"a keyword argument is called {name}, too"
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, (ast.Store, ast.Del)):
            return f"something else is assigned to {name}"
        looks = isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr")
        if looks and any(isinstance(one, ast.Constant) and one.value == name for one in ast.iter_child_nodes(node)):
            return f"{name} is looked up by its text"
    return ""


def taken(source: str, name: str, *, member: bool) -> bool:
    """Whether a new name means something in a file already.

    Args:
        member: of an attribute; what is no member is not touched by `text.name`, as no such thing exists yet.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            found = node.id
        elif isinstance(node, ast.Attribute):
            found = node.attr if member else ""
        elif isinstance(node, ast.alias):
            found = node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.arg):
            found = node.arg
        else:
            found = str(getattr(node, "name", "") or "")
        if found == name:
            return True
    return False


def renamed(source: str, old: str, new: str) -> str:
    """The source with every name `old` turned into `new`; texts change in `__all__` alone."""
    lines = source.splitlines(keepends=True)
    exported = _exported_lines(source)
    places: list[tuple[int, int, int, str]] = []
    for token in _tokens(source):
        row, column = token.start
        if token.type == tokenize.NAME and token.string == old:
            places.append((row, column, len(old), new))
        elif token.type == tokenize.STRING and row in exported and token.string[1:-1] == old:
            places.append((row, column + 1, len(old), new))
    for row, column, length, text in sorted(places, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + text + line[column + length :]
    return "".join(lines)


def rename_symbols(rename: Renaming) -> list[dict[str, object]]:
    """What the specification declares: the new name, the old one removed, the tests that speak of it changed."""
    rows: list[dict[str, object]] = [
        {"name": rename.new_name, "file": rename.file, "kind": rename.kind, "change": "new"},
        {"name": rename.old, "file": rename.file, "kind": rename.kind, "change": "removed"},
    ]
    for nodeid in rename.affected:
        path, _, name = nodeid.partition("::")
        rows.append({"name": name.replace("::", "."), "file": path, "kind": "function", "change": "changed"})
    return rows


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def _exported_lines(source: str) -> frozenset[int]:
    rows: set[int] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets):
            rows.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(rows)
