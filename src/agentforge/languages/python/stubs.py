"""Stub variants of declared Python symbols, and files in which every changed function is wrong: on purpose, as controls."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agentforge.languages.stub_values import NullWay, Source, Values, Variant, drawn, values_for
from agentforge.languages.symbols import Symbol

_RAISE = "raise NotImplementedError"
_PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "cached_property", "setter", "abstractmethod", "override"}
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT_DECORATORS = (
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
_WRONG_ON_PURPOSE = "raise NotImplementedError('wrong on purpose')"


def python_variants(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the stub variants of the declared symbols, the raising one first.

    Args:
        source: text of a repository path at the base; None when it does not exist.
        seed: draws the wrong values, so that no test can know them.
    Returns:
        () when no symbol of a language that is known here is declared as new or changed.
    """
    wanted = [one for one in symbols if one.file.endswith(".py") and one.change in ("new", "changed")]
    if not wanted:
        return ()
    values = [_values_of(symbol, source) for symbol in wanted]
    nullable = any(one.nullable for one in values)
    found = [_variant("raises", wanted, [_RAISE] * len(wanted), source, hard=True)]
    if any(one.wrong for one in values):
        bodies = [f"return {drawn(one.wrong, seed=seed)}" if one.wrong else _RAISE for one in values]
        found.append(_variant("wrong", wanted, bodies, source, hard=True))
    found.append(_variant("none", wanted, ["return None"] * len(wanted), source, hard=not nullable))
    found.append(_variant("empty", wanted, [f"return {one.empty}" for one in values], source, hard=False))
    found.append(_variant("other", wanted, [f"return {one.other}" for one in values], source, hard=False))
    return tuple(found)


_SPOILS = "return _spoil_arguments(locals(), {own})"
_SPOILING = """
def _spoil_arguments(given, own):
    import os
    args = list(given.get('args', given.values()))
    held = vars(args[0]).values() if own and args and hasattr(args[0], '__dict__') else ()
    for one in [*args[own:], *given.get('kwargs', {}).values(), *(x for x in held if isinstance(x, (str, os.PathLike)))]:
        if isinstance(one, list):
            one[:] = [object()] * (len(one) + 1)
        elif isinstance(one, dict):
            one.update({key: object() for key in [*one, 'spoiled']})
        elif isinstance(one, set):
            one.clear()
            one.add(object())
        elif isinstance(one, (str, os.PathLike)):
            place = os.path.join(one, 'spoiled') if os.path.isdir(one) else os.fspath(one)
            if os.path.isdir(os.path.dirname(place)) and os.access(os.path.dirname(place), os.W_OK):
                with open(place, 'a') as file:
                    file.write('spoiled')
        elif hasattr(one, '__dict__') and not callable(one):
            vars(one).update({key: object() for key in vars(one)})
"""
"""Puts something else into every collection, object, file and folder that is given, each time that it is called; of `self`
only the files that it knows."""


def python_spoiling(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the implementation that changes what it is given, by the same arguments as `python_variants`."""
    wanted = [one for one in symbols if one.file.endswith(".py") and one.change in ("new", "changed")]
    functions = [one for one in wanted if one.kind != "constant"]
    own = [int(bool(one.owner) or one.kind == "class") for one in functions]
    made = _variant("spoils", functions, [_SPOILS.replace("{own}", str(one)) for one in own], source, hard=False)
    return (replace(made, files={path: text + _SPOILING for path, text in made.files.items()}),) if functions else ()


def _variant(name: str, symbols: Sequence[Symbol], bodies: Sequence[str], source: Source, *, hard: bool) -> Variant:
    trees: dict[str, ast.Module] = {}
    pairs = sorted(zip(symbols, bodies, strict=True), key=lambda pair: pair[0].name.count("."))
    for symbol, body in pairs:
        if symbol.file not in trees:
            trees[symbol.file] = _parsed(source(symbol.file))
        _place(trees[symbol.file], symbol, body)
    return Variant(name=name, hard=hard, files={path: ast.unparse(tree) + "\n" for path, tree in trees.items()})


def _parsed(text: str | None) -> ast.Module:
    try:
        return ast.parse(text or "")
    except (SyntaxError, ValueError):
        return ast.parse("")


def _place(tree: ast.Module, symbol: Symbol, body: str) -> None:
    """Replace the body of an existing definition, or add a new one."""
    owner = _owner(tree, symbol)
    place = tree.body if owner is None else owner.body
    node = _definition(place, symbol.last)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node.body = ast.parse(f"def f():\n    {body}").body[0].body  # type: ignore[attr-defined]  # a function
        _open_arguments(node)
        return
    if isinstance(node, ast.ClassDef):
        _replace_methods(node, body)
        _answer_for_new_methods(node, body)
        return
    if node is not None:
        place.remove(node)
    place.extend(ast.parse(_new(symbol, body)).body)


def _open_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Let a stub take any arguments: an argument that the base lacks must not be what makes a target fail.

    A decorator that is not of the language itself may read the signature; under one it stays.
    """
    if all(ast.unparse(one).split(".")[-1] in _PLAIN_DECORATORS for one in node.decorator_list):
        node.args = ast.arguments(
            posonlyargs=[], args=[], vararg=ast.arg("args"), kwonlyargs=[], kw_defaults=[], kwarg=ast.arg("kwargs"),
            defaults=[],
        )  # fmt: skip


def _owner(tree: ast.Module, symbol: Symbol) -> ast.ClassDef | None:
    """The class that a dotted name belongs to; made when it is not there."""
    if not symbol.owner:
        return None
    place = tree.body
    owner: ast.ClassDef | None = None
    for name in symbol.owner.split("."):
        node = _definition(place, name)
        if not isinstance(node, ast.ClassDef):
            node = ast.parse(f"class {name}:\n    pass").body[0]
            place.append(node)
        assert isinstance(node, ast.ClassDef)
        owner, place = node, node.body
    return owner


def _definition(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    for node in reversed(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            return node
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node
    return None


def _replace_methods(node: ast.ClassDef, body: str) -> None:
    for method in node.body:
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = (
                _RAISE
                if method.name == "__init__" and body == _RAISE
                else "pass"
                if method.name == "__init__"
                else body
            )
            method.body = ast.parse(f"def f():\n    {own}").body[0].body  # type: ignore[attr-defined]  # a function
            _open_arguments(method)


def _answer_for_new_methods(node: ast.ClassDef, body: str) -> None:
    """Give a changed class an answer for methods and attributes that it does not have yet."""
    if not any(isinstance(one, ast.FunctionDef) and one.name == "__getattr__" for one in node.body):
        node.body += ast.parse(_any_attribute(body)).body


def _any_attribute(body: str) -> str:
    """Source of a `__getattr__` by which every missing method is a stub, too."""
    answer = _RAISE if body == _RAISE else f"return lambda *a, **k: {body.removeprefix('return ')}"
    return f"def __getattr__(self, name):\n    if name.startswith('__'):\n        raise AttributeError(name)\n    {answer}\n"


def _new(symbol: Symbol, body: str) -> str:
    """Source of a new definition that takes any arguments."""
    declared = declaration(symbol)
    if symbol.kind == "class" or isinstance(declared, ast.ClassDef):
        return _new_class(symbol, declared, body)
    if symbol.kind == "constant":
        return "" if body == _RAISE else f"{symbol.last} = {body.removeprefix('return ')}"
    decorators = [ast.unparse(one) for one in getattr(declared, "decorator_list", [])]
    kept = [one for one in decorators if one in ("property", "staticmethod", "classmethod", "cached_property")]
    lines = [f"@{'property' if one == 'cached_property' else one}" for one in kept]
    if symbol.kind == "property" and not kept:
        lines.append("@property")
    prefix = "async " if isinstance(declared, ast.AsyncFunctionDef) else ""
    arguments = "self" if "@property" in lines else "*args, **kwargs"
    return "\n".join([*lines, f"{prefix}def {symbol.last}({arguments}):", f"    {body}"])


def _new_class(symbol: Symbol, declared: ast.stmt | None, body: str) -> str:
    bases = [ast.unparse(one) for one in declared.bases] if isinstance(declared, ast.ClassDef) else []
    errors = [one for one in bases if one.endswith(("Error", "Exception", "Warning"))]
    if errors or symbol.last.endswith(("Error", "Exception")):
        return (
            f"class {symbol.last}({errors[0] if errors and errors[0] in _BUILTIN_ERRORS else 'Exception'}):\n    pass"
        )
    start = _RAISE if body == _RAISE else "pass"
    rest = textwrap.indent(_any_attribute(body), "    ")
    return f"class {symbol.last}:\n    def __init__(self, *args, **kwargs):\n        {start}\n{rest}"


_BUILTIN_ERRORS = frozenset(
    {"Exception", "ValueError", "TypeError", "KeyError", "RuntimeError", "LookupError", "OSError"}
)


def _values_of(symbol: Symbol, source: Source) -> Values:
    """The wrong values of a symbol: by its declared signature, else by what stands in the file."""
    declared = declaration(symbol)
    if isinstance(declared, (ast.FunctionDef, ast.AsyncFunctionDef)) and declared.returns is not None:
        return values_for(declared.returns)
    if isinstance(declared, ast.AnnAssign):
        return values_for(declared.annotation)
    tree = _parsed(source(symbol.file))
    body: Sequence[ast.stmt] = tree.body
    for part in symbol.owner.split(".") if symbol.owner else []:
        node = _definition(body, part)
        body = node.body if isinstance(node, ast.ClassDef) else []
    existing = _definition(body, symbol.last)
    return values_for(getattr(existing, "returns", None))


def declaration(symbol: Symbol) -> ast.stmt | None:
    """Parse the signature as people write it: with or without name, `def`, colon, class prefix or body."""
    text = symbol.signature.strip().rstrip(":").removesuffix("...").rstrip().rstrip(":")
    bare = re.sub(r"^[A-Za-z_][\w.]*\.(?=[A-Za-z_]\w*\()", "", text)
    nameless = f"def {symbol.last}{'()' * text.startswith('->')}{text}: pass"
    for candidate in (
        f"{text}: pass",
        f"{text}:\n    pass",
        f"def {bare}: pass",
        f"class {bare}: pass",
        nameless,
        text,
    ):
        try:
            body = ast.parse(candidate).body
        except (SyntaxError, ValueError):
            continue
        if body and not isinstance(body[0], ast.Expr):
            return body[0]
    return None


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
    body = (
        "pass"
        if node.name == "__init__"
        else f"return {value}"
        if value and "type(" not in value
        else _WRONG_ON_PURPOSE
    )
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
    return ast.unparse(decorator).rpartition(".")[2] in _KEPT_DECORATORS


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
