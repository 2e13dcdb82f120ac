"""Vacuous tests by their source: assertions that cannot fail, that are swallowed, or that speak of a mock of the thing itself.

It sees what no wrong implementation would show: assertions on a constant or a tuple, `or True`, a handler that swallows the
failure, the unit under test replaced by a mock, a loop over a literal nothing, a test without any assertion. What depends on
values is left to the stubs; whether an assertion inside a loop ran at all is counted after GREEN.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from agentforge.testing.identity import fills
from agentforge.verification.source.test_hashes import Read, test_functions
from agentforge.verification.source.vacuity_javascript import ASSERTS_NOTHING, vacuous_javascript

NEVER_RAN = "no assertion of this test was executed"
_SWALLOWING = frozenset({"AssertionError", "Exception", "BaseException", "Failed"})
_ASSERTING = ("assert", "raises", "warns", "check", "verify", "expect", "fail", "match", "should", "compare", "ensure")
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "create_autospec", "patch", "object", "setattr"})


def vacuous_tests(
    paths: Iterable[str],
    *,
    read: Read,
    names: Collection[str],
    units: Collection[str],
    known: Collection[str] = (),
    files: Collection[str] = (),
) -> tuple[tuple[str, str], ...]:
    """List (id, why) of declared tests that prove nothing.

    Args:
        names: ids without parameters of the tests to look at; others are not RED's.
        units: last names of the declared symbols: what a test must not mock.
        known: tests that the base has as they are.
        files: of the declared symbols: modules that a test must not mock.
    """
    found: list[tuple[str, str]] = []
    for path in paths:
        if not path.endswith(".py"):
            for title, why in vacuous_javascript(path, read(path) or b"", units=units, files=files):
                found += [(nodeid, why) for nodeid in _told_of(f"{path}::{title}", names) if nodeid not in known]
            continue
        for name, node, _classes in test_functions(read(path) or b""):
            nodeid = f"{path}::{name}"
            if nodeid in names and nodeid not in known:
                found += [(nodeid, why) for why in dict.fromkeys(_reasons(node, units))]
    return tuple(found)


def _told_of(nodeid: str, names: Collection[str]) -> list[str]:
    """The tests that a title stands for: itself, or its cases when it holds places to be filled: `adds %i and $b`."""
    bare = nodeid.partition("[")[0]
    return [bare] if bare in names else sorted(name for name in names if fills(nodeid, name))


def conditional_only(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether every assertion of a test stands where it may never be reached: in a loop or under a condition."""
    inside = [one for one in ast.walk(node) if isinstance(one, ast.Assert)]
    return bool(inside) and not any(_unconditional(node.body))


def counted(data: bytes, names: Collection[str]) -> bytes:
    """The text of a test file in which the named tests fail when none of their assertions was executed."""
    tree = ast.parse(data)
    for name, node in _nodes(tree):
        if name in names:
            _Counting().generic_visit(node)
            node.body.insert(0, ast.parse("_executed_ = []").body[0])
            node.body.append(ast.parse(f"assert _executed_, {NEVER_RAN!r}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)).encode("utf-8", "surrogateescape")


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield f"{node.name}::{one.name}", one


class _Counting(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        """Count an assertion where it is executed."""
        return [ast.parse("_executed_.append(1)").body[0], node]

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        """Count a block that asserts what happens in it, such as `raises`."""
        self.generic_visit(node)
        told = any(_asserts(one.context_expr) for one in node.items)
        return [*(ast.parse("_executed_.append(1)").body if told else ()), node]


def _unconditional(body: Iterable[ast.stmt]) -> Iterator[bool]:
    """One entry for each statement that surely asserts: an assertion, `raises`, or a call that asserts by its name."""
    for node in body:
        if isinstance(node, ast.Assert):
            yield True
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if any(_asserts(one.context_expr) for one in node.items):
                yield True
            yield from _unconditional(node.body)
        elif isinstance(node, ast.Try):
            yield from _unconditional([*node.body, *node.finalbody])
        elif isinstance(node, ast.Expr) and _asserts(node.value):
            yield True


def _reasons(node: ast.FunctionDef | ast.AsyncFunctionDef, units: Collection[str]) -> Iterator[str]:
    inside = list(ast.walk(node))
    for one in inside:
        if isinstance(one, ast.Assert):
            yield from _cannot_fail(one.test)
        elif isinstance(one, ast.Try):
            yield from _swallows(one)
        elif isinstance(one, (ast.For, ast.AsyncFor)) and _is_nothing(one.iter):
            yield "loops over nothing"
        elif isinstance(one, ast.With) and _suppresses(one):
            yield "suppresses the failure of its own assertion"
        elif isinstance(one, ast.Call):
            yield from _mocks(one, units, inside)
        elif isinstance(one, ast.Assign):
            yield from _replaces(one, units)
    if not any(isinstance(one, ast.Assert) or _asserts(one) for one in inside):
        yield ASSERTS_NOTHING


def _is_nothing(node: ast.expr) -> bool:
    elements = (
        node.elts if isinstance(node, (ast.List, ast.Tuple)) else node.keys if isinstance(node, ast.Dict) else [node]
    )
    return not elements


def _suppresses(node: ast.With) -> bool:
    named = any(ast.unparse(item.context_expr).startswith(("contextlib.suppress", "suppress(")) for item in node.items)
    return named and any(isinstance(one, ast.Assert) for one in ast.walk(node))


def _cannot_fail(test: ast.expr) -> Iterator[str]:
    if isinstance(test, ast.Tuple) and test.elts:
        yield "asserts a tuple, which is always true"
    elif isinstance(test, ast.Constant) and test.value:
        yield "asserts a constant"
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        if any(isinstance(one, ast.Constant) and one.value for one in test.values):
            yield "asserts `or` something that is always true"
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        same = ast.dump(test.left) == ast.dump(test.comparators[0])
        if same and isinstance(test.ops[0], (ast.Eq, ast.Is, ast.LtE, ast.GtE)) and not _calls(test.left):
            yield "compares a thing with itself"


def _calls(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def _swallows(node: ast.Try) -> Iterator[str]:
    """An assertion inside `try` whose failure a handler takes without raising or failing."""
    if not any(isinstance(one, ast.Assert) for part in node.body for one in ast.walk(part)):
        return
    for handler in node.handlers:
        named = [handler.type] if not isinstance(handler.type, ast.Tuple) else handler.type.elts
        taken = {ast.unparse(one).rpartition(".")[2] for one in named if one is not None}
        again = any(
            isinstance(one, (ast.Raise, ast.Assert)) or _asserts(one) for part in handler.body for one in ast.walk(part)
        )
        if (handler.type is None or taken & _SWALLOWING) and not again:
            yield "swallows the failure of its own assertion"


def _mocks(node: ast.Call, units: Collection[str], inside: Iterable[ast.AST]) -> Iterator[str]:
    """`patch("kit.slug")`, `patch.object(kit, "slug")`, `monkeypatch.setattr(kit, "slug", ...)` of a declared symbol."""
    function = ast.unparse(node.func)
    if function.rpartition(".")[2] not in _MOCKS or not ("patch" in function or "Mock" in function):
        return
    for one in node.args[:2]:
        name = one.value.rpartition(".")[2] if isinstance(one, ast.Constant) and isinstance(one.value, str) else ""
        if name in units and not _watches(node, name, inside):
            yield f"replaces {name}, which it should test (wraps={name} would only watch it)"


def _watches(node: ast.Call, name: str, inside: Iterable[ast.AST]) -> bool:
    """`patch.object(kit, "slug", wraps=kit.slug)`: the thing itself still does the work."""
    wrapped = [ast.unparse(one.value).rpartition(".")[2] for one in node.keywords if one.arg == "wraps"]
    told = {one.arg for one in node.keywords} | {
        one.attr for one in inside if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
    }
    return wrapped == [name] and not told & {"return_value", "side_effect"}


def _replaces(node: ast.Assign, units: Collection[str]) -> Iterator[str]:
    """`kit.slug = lambda text: "a"`, `kit.slug = Mock(...)`."""
    made = isinstance(node.value, ast.Lambda) or (
        isinstance(node.value, ast.Call) and "Mock" in ast.unparse(node.value.func)
    )
    for target in node.targets:
        name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
        if made and name in units:
            yield f"replaces {name}, which it should test"


def _asserts(node: ast.AST) -> bool:
    """Whether a call checks something, as far as its name says."""
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2].lower()
    return any(word in name for word in _ASSERTING)
