"""A Python source with its syntax tree: where nodes stand in the bytes, and which parts are not worth a mutant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_SPEAKING = frozenset({"print", "warn", "log", "debug", "info", "warning", "error", "exception", "critical", "echo"})
_WORDS = frozenset({"help", "description", "message", "msg", "title", "doc", "metavar", "epilog", "usage", "reason"})
_SHOWING = frozenset({"__repr__", "__str__"})
_DECLARING = frozenset({"__all__", "__version__", "__author__", "__slots__", "__doc__"})
_CHECKING = frozenset({"TYPE_CHECKING"})
_TYPING = frozenset({"TypeVar", "TypeVarTuple", "ParamSpec", "NewType"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationPlace:
    """A node that may be mutated.

    Attributes:
        owner: qualified name of the function or class around it; "" is the module.
        wordy: its strings are text for people (messages, help, logs).
    """

    node: ast.AST
    parent: ast.AST | None
    owner: str = ""
    wordy: bool = False


@dataclass(frozen=True, slots=True)
class MutatedSource:
    """The bytes of a file, with the offsets of their lines."""

    data: bytes
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find the lines."""
        at = 0
        for line in self.data.splitlines(keepends=True):
            self.starts.append(at)
            at += len(line)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte offsets of a node."""
        first, last = self.starts[node.lineno - 1], self.starts[node.end_lineno - 1]  # type: ignore[attr-defined]  # placed
        return first + node.col_offset, last + node.end_col_offset  # type: ignore[attr-defined]  # as above

    def replaced(self, node: ast.AST, text: str) -> bytes:
        """The bytes with another text in the place of a node."""
        first, last = self.span(node)
        return self.data[:first] + text.encode() + self.data[last:]

    def text(self, node: ast.AST) -> str:
        """The source of a node."""
        first, last = self.span(node)
        return self.data[first:last].decode("utf-8", "replace")


def places(tree: ast.Module) -> Iterator[MutationPlace]:
    """Every node that may be mutated, outermost first.

    Left out: docstrings, annotations, f-string parts, what shows an object (`__repr__`), logging and printing, what is run
    for type checkers only (`TypeVar("T")`, the type of a `cast`), and declarations like `__all__`.
    """
    yield from _walk(tree, None, owner="", wordy=False)


def _walk(node: ast.AST, parent: ast.AST | None, *, owner: str, wordy: bool) -> Iterator[MutationPlace]:
    if _is_left_out(node, parent):
        return
    yield MutationPlace(node=node, parent=parent, owner=owner, wordy=wordy)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        owner = f"{owner}.{node.name}" if owner else node.name
    wordy = wordy or isinstance(node, ast.Raise) or (isinstance(node, ast.Assert) and node.msg is not None)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params", "type_comment", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                speaks = wordy or (isinstance(child, ast.keyword) and child.arg in _WORDS)
                yield from _walk(child, node, owner=owner, wordy=speaks)


def _is_left_out(node: ast.AST, parent: ast.AST | None) -> bool:
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or is_speaking(node.value)
    if isinstance(node, Function) and node.name in _SHOWING:
        return True
    if isinstance(node, ast.If) and _names(node.test) & _CHECKING:
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test).startswith("__name__ =="):
        return True
    if isinstance(node, ast.Assign) and any(_names(target) & _DECLARING for target in node.targets):
        return True
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) in _TYPING:
        return True
    if isinstance(parent, ast.Call) and _called(parent) == "cast" and node is next(iter(parent.args), None):
        return True
    overloads = isinstance(node, Function) and any("overload" in ast.unparse(one) for one in node.decorator_list)
    return overloads or (isinstance(node, ast.Constant) and isinstance(parent, ast.MatchValue))


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return ast.unparse(call.func).rpartition(".")[2]


def is_speaking(node: ast.AST) -> bool:
    """Whether an expression only tells people something: `print(...)`, `log.info(...)`, `warnings.warn(...)`."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Name):
        return function.id == "print"
    if not isinstance(function, ast.Attribute) or function.attr not in _SPEAKING:
        return False
    owner = ast.unparse(function.value).lower()
    return any(word in owner for word in ("log", "warn", "console", "click", "out"))


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} | {
        one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)
    }
