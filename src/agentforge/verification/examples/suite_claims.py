"""Claims that a test file makes in plain words: `assert call == literal` on imported names. Read, never run."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentforge.languages.python.source import module_of
from agentforge.verification.examples.claims import BUILTINS, is_literal
from agentforge.verification.source.test_hashes import test_functions

Origin = tuple[tuple[str, ...], str]
"""Spellings of a module, and the attribute of it that a name stands for ("" is the module itself)."""

_CALL_NODES = (
    ast.Call, ast.Name, ast.Load, ast.Attribute, ast.Constant, ast.keyword, ast.List, ast.Tuple, ast.Set, ast.Dict,
    ast.Subscript, ast.Slice, ast.UnaryOp, ast.USub, ast.UAdd,
)  # fmt: skip
_PLAIN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FIXED = ("setup_module", "setup_function", "setUpModule", "setup_method", "setUp", "setUpClass", "setup_class")
_ROWS = 60
_ONLY_LOOKING = frozenset({"len", "type", "repr", "str", "isinstance", "bool", "hash", "id", "int", "float"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    """One assertion of a test.

    Attributes:
        test: id without parameters.
        call: source of the call.
        returns: source of the literal; empty when an exception is expected.
        raises: name of the exception.
        names: where each free name of the call comes from.
    """

    test: str
    call: str
    names: Mapping[str, Origin]
    returns: str = ""
    raises: str = ""


def asserted(path: str, data: bytes) -> tuple[Asserted, ...]:
    """List what the straight-line tests of a file assert.

    A test counts when its body is imports, assignments and assertions alone, and it takes nothing but literal parameters: what
    needs fixtures, set-up or several steps cannot be repeated elsewhere. A file with set-up of its own gives nothing.
    """
    tree = module_of(data)
    if has_setup(tree):
        return ()
    imported = dict(imports_of(tree.body))
    constants = dict(_constants(tree.body))
    found: list[Asserted] = []
    for name, node, classes in test_functions(data):
        if all(is_plain(owner) for owner in classes):
            found += _of_test(f"{path}::{name}", node, imported=imported, constants=constants)
    return tuple(found)


def has_fixture_magic(data: bytes | None) -> bool:
    """Whether a conftest.py may change what tests see without being asked: autouse fixtures, hooks, the environment."""
    text = (data or b"").decode("utf-8", "replace")
    return any(word in text for word in ("autouse", "environ", "pytest_configure", "pytest_sessionstart", "sys.path"))


def is_plain(owner: ast.ClassDef) -> bool:
    """A class that brings nothing along but the names of unittest."""
    bases = {ast.unparse(one).rpartition(".")[2] for one in owner.bases}
    return bases <= {"TestCase"} and not owner.decorator_list


def has_setup(tree: ast.Module) -> bool:
    """Whether a test file prepares something before its tests run, or does more than define them."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in _FIXED:
            return True
        if isinstance(node, ast.keyword) and node.arg == "autouse":
            return True
    return any(not isinstance(node, _PLAIN) and not _names_only(node) and not _is_text(node) for node in tree.body)


def _names_only(node: ast.stmt) -> bool:
    """An assignment to plain names: it changes nothing outside of the file."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and all(isinstance(one, ast.Name) for one in targets)


def _of_test(
    test: str,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    *,
    imported: Mapping[str, Origin],
    constants: Mapping[str, ast.expr],
) -> list[Asserted]:
    rows = parameter_rows(node)
    if rows is None:
        return []
    names = {**imported, **dict(imports_of(node.body))}
    found = []
    for row in rows[:_ROWS]:
        made = list(_of_body(test, node.body, values={**constants, **row}, names=names))
        if any(one is None for one in made):
            return []
        found += [one for one in made if one is not None]
    return found


def parameter_rows(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[dict[str, ast.expr]] | None:
    """The literal rows of `pytest.mark.parametrize`; [{}] without parameters, None for anything else."""
    parameters = [one.arg for one in node.args.args if one.arg != "self"]
    rows: list[dict[str, ast.expr]] = [{}]
    for decorator in node.decorator_list:
        own = _parametrized(decorator)
        if own is None:
            return None
        rows = [{**one, **other} for one in rows for other in own]
    return rows if all(set(row) == set(parameters) for row in rows) else None


def _parametrized(decorator: ast.expr) -> list[dict[str, ast.expr]] | None:
    if not isinstance(decorator, ast.Call) or not ast.unparse(decorator.func).endswith("parametrize"):
        return None
    if len(decorator.args) < 2 or not isinstance(decorator.args[1], (ast.List, ast.Tuple)):
        return None
    named = decorator.args[0]
    if isinstance(named, ast.Constant) and isinstance(named.value, str):
        names = [one.strip() for one in named.value.split(",") if one.strip()]
    elif isinstance(named, (ast.List, ast.Tuple)):
        names = [one.value for one in named.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    else:
        return None
    rows, whole = [], isinstance(named, ast.Constant) and len(names) == 1  # a list of one name has rows of one cell
    for item in decorator.args[1].elts:
        if isinstance(item, ast.Call) and ast.unparse(item.func).endswith("param"):
            cells: Sequence[ast.expr] = item.args
        elif whole or not isinstance(item, (ast.Tuple, ast.List)):
            cells = [item] if whole else []
        else:
            cells = item.elts
        if len(cells) != len(names):
            return None
        rows.append(dict(zip(names, cells, strict=True)))
    return rows


def _of_body(
    test: str, body: Sequence[ast.stmt], *, values: Mapping[str, ast.expr], names: Mapping[str, Origin]
) -> Iterator[Asserted | None]:
    """Each assertion of a straight body; None for a statement that cannot be followed."""
    known = dict(values)
    stateful = _stateful(body)
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node):
            continue
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in stateful:
                yield None
            known[node.targets[0].id] = _filled(node.value, known)
            continue
        if isinstance(node, ast.Assert):
            yield from _of_assert(test, _filled(node.test, known), names)
        elif isinstance(node, ast.With):
            yield _of_raises(test, node, known, names)
        elif isinstance(node, ast.Expr) and _is_equality(node.value):
            left, right = (_filled(one, known) for one in node.value.args[:2])  # type: ignore[attr-defined]  # a call
            yield from _of_pair(test, left, right, names)
        else:
            yield None


def _stateful(body: Sequence[ast.stmt]) -> set[str]:
    """Locals that a call made, that are handed on or called upon, and read again: their source in their place has no state."""
    nodes = [one for statement in body for one in ast.walk(statement)]
    made = {
        target.id
        for one in nodes
        if isinstance(one, ast.Assign) and any(isinstance(part, ast.Call) for part in ast.walk(one.value))
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    read = Counter(one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    touched: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.Call) and not (isinstance(one.func, ast.Name) and one.func.id in _ONLY_LOOKING):
            parts = [*one.args, *(keyword.value for keyword in one.keywords)]
            parts += [one.func.value] if isinstance(one.func, ast.Attribute) else []
            touched |= {part.id for part in parts if isinstance(part, ast.Name)}
    return {name for name in made & touched if read[name] > 1}


def _of_assert(test: str, node: ast.expr, names: Mapping[str, Origin]) -> Iterator[Asserted]:
    """`call == literal` and `call is True`; other assertions say nothing here."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for part in node.values:
            yield from _of_assert(test, part, names)
        return
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.Is)):
        return
    yield from _of_pair(test, node.left, node.comparators[0], names)


def _is_equality(node: ast.expr) -> bool:
    """`self.assertEqual(a, b)` of unittest."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "self.assertEqual" and len(node.args) in (2, 3)


def _of_pair(test: str, left: ast.expr, right: ast.expr, names: Mapping[str, Origin]) -> Iterator[Asserted]:
    """A call and a literal that are said to be equal, in either order."""
    for call, value in ((left, right), (right, left)):
        origins = _origins(call, names)
        if origins is not None and is_literal(ast.unparse(value)):
            yield Asserted(test=test, call=ast.unparse(call), returns=ast.unparse(value), names=origins)
            return


def _of_raises(
    test: str, node: ast.With, known: Mapping[str, ast.expr], names: Mapping[str, Origin]
) -> Asserted | None:
    """`with pytest.raises(E): call`, or assertRaises."""
    if len(node.items) != 1 or len(node.body) != 1 or not isinstance(node.body[0], ast.Expr):
        return None
    context = node.items[0].context_expr
    if (
        not isinstance(context, ast.Call)
        or not ast.unparse(context.func).lower().endswith("raises")
        or not context.args
    ):
        return None
    call = _filled(node.body[0].value, known)
    origins = _origins(call, names)
    if origins is None or not isinstance(context.args[0], (ast.Name, ast.Attribute)):
        return None
    return Asserted(test=test, call=ast.unparse(call), raises=ast.unparse(context.args[0]), names=origins)


def _origins(call: ast.expr, names: Mapping[str, Origin]) -> dict[str, Origin] | None:
    """Where the free names of a call come from; None when it is no call of imported names and literals."""
    nodes = list(ast.walk(call))
    if not all(isinstance(node, _CALL_NODES) for node in nodes) or not any(isinstance(one, ast.Call) for one in nodes):
        return None
    used = {node.id for node in nodes if isinstance(node, ast.Name) and node.id not in BUILTINS}
    return {name: names[name] for name in sorted(used)} if used and used <= set(names) else None


class _Fill(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._known[node.id]) if node.id in self._known else node


def _filled(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with the values of local names in their places."""
    filled: ast.expr = _Fill(known).visit(copy.deepcopy(node))
    return filled


def imports_of(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Origin]]:
    """Each name that the imports of a body bring, and where it comes from."""
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, ((node.module,), alias.name)
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield alias.asname or top, ((alias.name,), "")


def _constants(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and is_literal(ast.unparse(node.value)):
            yield from ((one.id, node.value) for one in node.targets if isinstance(one, ast.Name))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
