"""Finds product code that replaces parts of modules which are not its own: the clock, chance, the runner, builtins."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Read = Callable[[str], bytes | None]

_FOREIGN = frozenset(
    {
        *("builtins", "datetime", "functools", "gc", "importlib", "inspect", "io", "json", "math", "operator", "os"),
        *(
            "pathlib",
            "random",
            "re",
            "secrets",
            "shutil",
            "string",
            "subprocess",
            "tempfile",
            "threading",
            "time",
            "types",
        ),
        *("unittest", "uuid", "pytest", "_pytest", "pluggy", "hypothesis", "mock", "freezegun", "numpy"),
    }
)
"""Modules whose parts other code, tests among them, relies on. `sys`, `logging`, `warnings` are meant to be set."""
_SETTERS = frozenset({"setattr", "delattr"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignPatch:
    """A line that replaces a part of somebody else's module."""

    path: str
    line: int
    text: str


def foreign_patches(changed: Iterable[str], *, before: Read, after: Read) -> tuple[ForeignPatch, ...]:
    """List the lines of changed Python files that patch a module of the language or of a test runner, and did not before.

    Seen are `time.time = ...`, `setattr(time, "time", ...)`, `del os.environ` in its forms, and `random.seed(...)` at import. Not
    seen is a module reached in a roundabout way (`sys.modules["time"]`); what it does to the tests is for the controls.
    """
    found: list[ForeignPatch] = []
    for path in changed:
        data = after(path)
        if data is None or not path.endswith(".py"):
            continue
        known = {text for _line, text in _lines(before(path))}
        found += [ForeignPatch(path=path, line=line, text=text) for line, text in _lines(data) if text not in known]
    return tuple(found)


def _lines(data: bytes | None) -> Iterator[tuple[int, str]]:
    try:
        tree = ast.parse(data or b"")
    except (SyntaxError, ValueError):
        return
    names = dict(_imported(tree))
    for node in ast.walk(tree):
        if any(_root(target, names) for target in _targets(node)):
            yield node.lineno, ast.unparse(node).splitlines()[0][:200]  # type: ignore[attr-defined]  # a statement or a call
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and _seeds(statement.value, names):
            yield statement.lineno, ast.unparse(statement)[:200]


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that stand for a foreign module, a part of one, or the module that they were imported from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, node.module.split(".")[0]


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement or call sets or deletes an attribute of."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        owners = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        owners = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SETTERS and node.args:
        return [node.args[0]]
    else:
        return []
    flat = [inner for one in owners for inner in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
    return [one.value for one in flat if isinstance(one, ast.Attribute)]


def _root(owner: ast.expr, names: dict[str, str]) -> bool:
    """Whether an attribute's owner is a foreign module or something inside of one that was imported by name."""
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name) and names.get(owner.id, "") in _FOREIGN


def _seeds(call: ast.expr, names: dict[str, str]) -> bool:
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "seed" and names.get("seed") in ("random", "numpy")
    return isinstance(call.func, ast.Attribute) and call.func.attr == "seed" and _root(call.func.value, names)
