"""After GREEN: with every changed function wrong, the targets must fail again. One that passes tests nothing, or is lied to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agentforge.languages.catalogue import of_path
from agentforge.languages.language import NullImplementation
from agentforge.languages.stub_values import drawn, values_for
from agentforge.suite.test_environment import Edits, Rig, run_tree
from agentforge.workspace.code.symbols import LANGUAGES

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DOCUMENTS = (".md", ".rst", ".txt", ".pyi")
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


def hollow_targets(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits,
    observed: Mapping[str, str] | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Run the targets against the tree with wrong bodies under the real signatures of all changed functions.

    What runs at import stays as it is, so that code which fools the runner from there shows itself. Nothing can be told of a
    change that is partly data (a constant, a field, a base class, a decorator, something taken away, a file that is no
    Python): that part alone may rightly satisfy a target.

    Args:
        targets: ids of the new tests that failed at the base.
        edits: what every run of the tree gets.
        observed: function name -> type of the result that tests expect, for functions without an annotation.
    Returns:
        ids of targets that still pass; () when there is nothing to replace.
    """
    wrong: dict[str, bytes | None] = {}
    for path in (one for one in changed if one not in edits.files):
        if not path.endswith((".py", *_DOCUMENTS)):
            return ()
        if path.endswith(".py"):
            before, after = rig.git.show(base_tree, path), rig.git.show(tree, path)
            text = _with_wrong_bodies(before or b"", after or b"", observed or {}, seed=tree)
            if text is None:
                return ()
            wrong |= {path: text} if text else {}
    if not wrong or not targets:
        return ()
    files = tuple(dict.fromkeys(nodeid.partition("::")[0] for nodeid in targets))
    run = run_tree(rig, tree, tests=files, edits=Edits(files={**edits.files, **wrong}))
    return tuple(sorted(set(run.passed_ids) & set(targets)))


def _with_wrong_bodies(before: bytes, after: bytes, observed: Mapping[str, str], *, seed: str) -> bytes | None:
    """The text with wrong bodies; empty when no function changed, None when data changed or it cannot be parsed."""
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError):
        return None
    if _data(new) - _data(old):
        return None
    known = {name: ast.unparse(node) for name, node in _functions(old.body)}
    now = dict(_functions(new.body))
    different = [node for name, node in now.items() if known.get(name) != ast.unparse(node)]
    if set(known) - set(now) or not all(_is_plain(one) for node in different for one in node.decorator_list):
        return None
    for node in different:
        node.body = [_wrong(node, observed, seed=seed)]
    return ast.unparse(new).encode("utf-8", "surrogateescape") if different else b""


def _wrong(node: _Function, observed: Mapping[str, str], *, seed: str) -> ast.stmt:
    """A wrong value of the type that is declared or was seen; a raise where neither says one and for what Python calls itself."""
    annotation = node.returns or (ast.Name(observed[node.name]) if node.name in observed else None)
    value = "" if annotation is None or node.name.startswith("__") else drawn(values_for(annotation).wrong, seed=seed)
    body = "pass" if node.name == "__init__" else f"return {value}" if value and "type(" not in value else _RAISE
    made: list[ast.stmt] = ast.parse(f"def f(): {body}").body[0].body  # type: ignore[attr-defined]  # a function
    return made[0]


def _functions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, _Function]]:
    """Functions and methods by their dotted names; what stands inside of a function belongs to it."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _functions([*node.body, *node.orelse], prefix)


def _is_plain(decorator: ast.expr) -> bool:
    """A decorator that does nothing of its own."""
    return ast.unparse(decorator).rpartition(".")[2] in _PLAIN_DECORATORS


def _data(tree: ast.Module) -> set[str]:
    """What a file holds beside functions: named values and fields, what classes are made of, what is registered at import."""
    found: set[str] = set()
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in (one for body in (tree.body, *(owner.body for owner in classes)) for one in body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = isinstance(node, (ast.Assign, ast.AnnAssign)) and all(isinstance(one, ast.Name) for one in targets)
        if named or (isinstance(node, ast.Expr) and _registers(node.value)):
            found.add(ast.unparse(node))
    for owner in classes:
        if owner.bases or owner.keywords or owner.decorator_list or not list(_functions(owner.body)):
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


_TEXT_DOCUMENTS = (".md", ".txt", ".rst", ".lock", "go.sum")


def hollow_by_text(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits
) -> tuple[str, ...]:
    """Run the targets against the tree with wrong beginnings of all changed functions.

    Returns:
        ids of targets that pass under both; () when there is nothing to replace, or nothing can be told.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_TEXT_DOCUMENTS)]
    if not targets or not product or any(_maker(one) is None for one in product):
        return ()
    left = set(targets)
    files = tuple(dict.fromkeys(nodeid.partition("::")[0] for nodeid in targets))
    for raising in (True, False):
        wrong = _wrong_text(rig, base_tree, tree, product, raising=raising)
        if not wrong:
            return ()
        run = run_tree(rig, tree, tests=files, edits=Edits(files={**edits.files, **wrong}))
        left &= set(run.passed_ids)
        if not left:
            return ()
    return tuple(sorted(left))


def _wrong_text(
    rig: Rig, base_tree: str, tree: str, product: Sequence[str], *, raising: bool
) -> dict[str, bytes | None]:
    """The changed files with wrong functions; empty when the change is data, or a function has no wrong value."""
    made: dict[str, bytes | None] = {}
    for path in product:
        after = rig.git.show(tree, path)
        if after is None:
            return {}
        make = _maker(path)
        text = (
            make(path, rig.git.show(base_tree, path), after, seed="" if raising else tree) if make is not None else None
        )
        if text is None:
            return {}
        made |= {path: text} if text else {}
    return made


def _maker(path: str) -> NullImplementation | None:
    language = of_path(path)
    return language.null_implementation if language is not None else None


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
_JAVASCRIPT_DOCUMENTS = (".md", ".txt", ".d.ts")


def hollow_javascript(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits
) -> tuple[str, ...]:
    """Run the targets against the tree with wrong bodies of all changed functions.

    Returns:
        ids of targets that pass under both wrong bodies; () when there is nothing to replace, or nothing can be told.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_JAVASCRIPT_DOCUMENTS)]
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

    known = {node.text() for node in _javascript_functions(SgRoot(other, grammar).root())}
    fresh = [node for node in _javascript_functions(SgRoot(text, grammar).root()) if node.text() not in known]
    spans = [(node.range().start.index, node.range().end.index) for node in fresh]
    return [
        node
        for node, (start, end) in zip(fresh, spans, strict=True)
        if not any(start <= first and last <= end and (first, last) != (start, end) for first, last in spans)
    ]


def _javascript_functions(root: SgNode) -> Iterator[SgNode]:
    yield from root.find_all({"rule": {"any": [{"kind": kind} for kind in _FUNCTIONS]}})


def _only_functions(text: str, other: str, functions: Sequence[SgNode]) -> bool:
    """Whether the lines that the other text does not have lie in the given functions, or say nothing (exports, comments)."""
    known = set(other.splitlines())
    inside = {line for node in functions for line in range(node.range().start.line, node.range().end.line + 1)}
    return all(
        number in inside or line in known or _NEUTRAL.match(line) is not None
        for number, line in enumerate(text.splitlines())
    )
