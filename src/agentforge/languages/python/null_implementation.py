"""A Python file in which every changed function is wrong: it gives a wrong value under its real signature, or raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from agentforge.languages.stub_values import NullWay, drawn, values_for

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PLAIN_DECORATORS = (
    "staticmethod",
    "classmethod",
    "property",
    "cached_property",
    "abstractmethod",
    "override",
    "setter",
)
_REACHING = frozenset(
    {"setattr", "delattr", "exec", "eval", "gc", "sys", "os", "atexit", "threading", "signal", "ctypes", "builtins",
     "importlib", "_pytest", "pytest", "unittest", "pluggy"}
)  # fmt: skip
_RAISE = "raise NotImplementedError('wrong on purpose')"


def python_null(path: str, before: bytes | None, after: bytes, *, way: NullWay) -> bytes | None:
    """Write a file with wrong bodies; b"" when no function changed, None when data changed or it cannot be parsed.

    What runs at import stays as it is, so that code which fools the runner from there shows itself. One way to be wrong is
    enough: a value of the type where there is one, an exception elsewhere.
    """
    del path
    try:
        old, new = ast.parse(before or b""), ast.parse(after)
    except (SyntaxError, ValueError):
        return None
    if _data(new) - _data(old):
        return None
    known = {name: ast.unparse(node) for name, node in python_functions(old.body)}
    now = dict(python_functions(new.body))
    different = [node for name, node in now.items() if known.get(name) != ast.unparse(node)]
    if set(known) - set(now) or not all(_is_plain(one) for node in different for one in node.decorator_list):
        return None
    for node in different:
        node.body = [_wrong(node, way)]
    return ast.unparse(new).encode("utf-8", "surrogateescape") if different else b""


def _wrong(node: _Function, way: NullWay) -> ast.stmt:
    """A wrong value of the type that is declared or was seen; a raise where neither says one and for what Python calls itself."""
    annotation = node.returns or (ast.Name(way.observed[node.name]) if node.name in way.observed else None)
    value = (
        "" if annotation is None or node.name.startswith("__") else drawn(values_for(annotation).wrong, seed=way.seed)
    )
    body = "pass" if node.name == "__init__" else f"return {value}" if value and "type(" not in value else _RAISE
    made: list[ast.stmt] = ast.parse(f"def f(): {body}").body[0].body  # type: ignore[attr-defined]  # a function
    return made[0]


def python_functions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, _Function]]:
    """Functions and methods by their dotted names; what stands inside of a function belongs to it."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from python_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from python_functions([*node.body, *node.orelse], prefix)


def _is_plain(decorator: ast.expr) -> bool:
    """A decorator that does nothing of its own."""
    return ast.unparse(decorator).rpartition(".")[2] in _PLAIN_DECORATORS


def _data(tree: ast.Module) -> set[str]:
    """What a file holds beside functions: named values and the fields of each class, what classes are made of, what is
    registered at import."""
    found: set[str] = set()
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bodies = [("", tree.body), *((f"{owner.name}.", owner.body) for owner in classes)]
    for owner_name, node in ((name, one) for name, body in bodies for one in body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = isinstance(node, (ast.Assign, ast.AnnAssign)) and all(isinstance(one, ast.Name) for one in targets)
        if named or (isinstance(node, ast.Expr) and _registers(node.value)):
            found.add(owner_name + ast.unparse(node))
    for owner in classes:
        if owner.bases or owner.keywords or owner.decorator_list or not list(python_functions(owner.body)):
            parts = (*owner.bases, *owner.keywords, *owner.decorator_list)
            found.add(f"class {owner.name} {[ast.unparse(one) for one in parts]}")
    return found


def _registers(node: ast.expr) -> bool:
    """A call at import that reaches for nothing outside of the project."""
    if not isinstance(node, ast.Call):
        return False
    root: ast.expr = node.func
    while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
        root = root.func if isinstance(root, ast.Call) else root.value
    return isinstance(root, ast.Name) and root.id not in _REACHING
