"""Fixtures and helpers of tests that the specification changes: which tests of the base may run with the new text of one."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from agentforge.languages.javascript.source import is_javascript
from agentforge.languages.python.source import module_of, reached
from agentforge.testing.outcome import file_of, without_parameters
from agentforge.verification.source.test_hashes import test_functions, test_hashes
from agentforge.verification.stages.changed_support import declared_helpers, helpers_of, words_of_script_test
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Asks = dict[str, frozenset[str]]
"""Name of a fixture or helper -> the names that it asks for."""
_Found = dict[str, tuple[str, frozenset[str]]]
"""The same, with its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestTree:
    """The files of one tree, as far as tests reach others.

    Attributes:
        present: all paths of the tree.
        roots: folders that stand on `sys.path`, relative to the repository.
    """

    read: Read
    present: Collection[str] = ()
    roots: Sequence[str] = ()


TestTree.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name


def tests_with_changed_fixtures(
    ids: Iterable[str], *, superseded: Collection[str], before: Read, after: TestTree
) -> frozenset[str]:
    """List the tests that ask, directly or through others, for a fixture or helper that the specification lists as changed.

    A helper is a function that is no test, in the file of a test or in one that tests import. A file counts only when the
    declared ones are all that became of its old text: what it had besides stands as it was, names may be imported from
    elsewhere, and what is new there is asked for by name (no hook, no fixture for everybody, no second definition). A fixture
    counts only when it still uses what it used, directly or through a function beside it. A test that another test calls is a
    helper of that one. What such a test still shows is measured, see `verification.refits`.

    Args:
        superseded: `path::name` of what the specification changes in files of tests.
    """
    declared = changed_as_declared(superseded, before=before, after=after.read)
    if not declared:
        return frozenset()
    bare = {one: without_parameters(one) for one in ids}
    standing = {one for one, test in bare.items() if _own_text(test, before) == _own_text(test, after.read)}
    return frozenset(one for one in standing if _asked_for(bare[one], after) & declared)


def changed_as_declared(superseded: Collection[str], *, before: Read, after: Read) -> frozenset[str]:
    """`path::name` of the fixtures and helpers that count as changed by the specification."""
    return _declared(superseded, before=before, after=after) | declared_helpers(superseded, before=before, after=after)


def _own_text(test: str, read: Read) -> str:
    """The digest of a test's own text; "" for one that is inherited, or has a title that is computed."""
    path, _, name = test.partition("::")
    return dict(test_hashes(path, read(path) or b"")).get(name, "")


def words_of_test(test: str, tree: TestTree) -> frozenset[str]:
    """The names that a test uses, itself or through the fixtures and functions of test files that it comes to."""
    if is_javascript(file_of(test)):
        return words_of_script_test(test, read=tree.read, present=tree.present)
    found, asked, known = _reading(without_parameters(test), tree)
    if found is None:
        return frozenset()
    reached = _closure(asked, known)
    return frozenset({*asked, *(word for one in reached for word in known[one.partition("::")[2]][1])})


def _declared(superseded: Collection[str], *, before: Read, after: Read) -> frozenset[str]:
    by_file: dict[str, set[str]] = {}
    for one in superseded:
        path, _, name = one.partition("::")
        if path.endswith(".py"):
            by_file.setdefault(path, set()).add(name)
    found: set[str] = set()
    for path, names in by_file.items():
        old, new = _statements(before(path)), _statements(after(path))
        fixtures = names & _askable(old).keys() & _askable(new).keys()
        still = {one for one in names if _used_by(old, one) <= _used_by(new, one)}
        called = names & still & _called_tests(old) & _called_tests(new)
        if fixtures <= still and fixtures | called and _nothing_else(old, new, fixtures | called, names - fixtures):
            found |= {f"{path}::{name}" for name in fixtures | called}
    return frozenset(found)


def _called_tests(body: list[ast.stmt]) -> frozenset[str]:
    """The tests of a module that other functions of it call; of a class, those that others of it call."""
    words = {one.name: _words_in(one) for one in body if isinstance(one, _DEFS)}
    return frozenset(
        test
        for test in _tests(body)
        if any(_calls(caller, said, test) for caller, said in words.items() if caller != test)
    )


def _tests(body: Iterable[ast.stmt]) -> _Asks:
    """The tests of a module, with the names that each speaks of."""
    return {
        one.name: _words_in(one)
        for one in body
        if isinstance(one, _DEFS) and one.name.rpartition("::")[2].startswith("test")
    }


def _calls(caller: str, said: frozenset[str], test: str) -> bool:
    owner, _, name = test.rpartition("::")
    return name in said and (not owner or caller.rpartition("::")[0] == owner)


def _used_by(body: Iterable[ast.stmt], fixture: str) -> frozenset[str]:
    """Names of the module that a fixture uses, itself or through functions beside it: a stand-in for the product uses fewer."""
    bound = {name: node for node in body for name in _bound(node)}
    seen: set[str] = set()
    left = {fixture}
    while left:
        seen |= left
        functions = [node for one in left if isinstance(node := bound.get(one), _DEFS)]
        used = {name for node in functions for name in _names_in(node)}
        left = (used & bound.keys()) - seen
    return frozenset(seen)


def _names_in(node: _Function) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - set(_arguments(node))


def _words_in(node: _Function) -> frozenset[str]:
    """Every name that a function speaks of: variables, attributes, what it asks for."""
    walked = list(ast.walk(node))
    names = {one.id for one in walked if isinstance(one, ast.Name)}
    return frozenset({*names, *(one.attr for one in walked if isinstance(one, ast.Attribute)), *_arguments(node)})


def _nothing_else(old: list[ast.stmt], new: list[ast.stmt], fixtures: Collection[str], others: Collection[str]) -> bool:
    """Whether the old text stands but for the fixtures, and what was added changes nothing unasked.

    Args:
        others: tests of the file that the specification changes, too: they may be anything.
    """
    old, new = ([node for node in body if not (isinstance(node, _DEFS) and node.name in others)] for body in (old, new))
    before, after = (Counter(_parts(body, fixtures)) for body in (old, new))
    if before - after:
        return False
    known = {*fixtures, *(name for node in old for name in _bound(node))}
    counted = Counter(name for node in new for name in _bound(node))
    added = [node for node in new if any(after[part] > before[part] for part in _parts_of(node, fixtures))]
    quiet = all(_is_quiet(node, known) for node in added)
    return quiet and all(counted[name] <= 1 for name in known) and not _for_all(new, old)


_OF_CLASSES = frozenset(
    [
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "asyncSetUp",
        "asyncTearDown",
        "setup_method",
        "teardown_method",
        "setup_class",
        "teardown_class",
    ]
)
"""What runs around each test of a class, or around all of them, without being asked for."""
_OF_MODULES = frozenset(
    [
        "setUpModule",
        "tearDownModule",
        "setup_module",
        "teardown_module",
        "setup_function",
        "teardown_function",
        "load_tests",
    ]
)
_MARKS = ("pytest.mark.", "unittest.", "mock.", "patch")
"""How what stands above a test begins where it does nothing until the test runs."""
_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def _is_quiet(node: ast.stmt, known: Collection[str]) -> bool:
    """Whether a new statement does nothing by itself: an import, a constant, a test, a class, or a function to be asked for.

    Args:
        known: names that the old text binds, classes among them.
    """
    if isinstance(node, _DEFS):
        owner, _, name = node.name.rpartition("::")
        if name.startswith("test"):
            return all(ast.unparse(mark).startswith(_MARKS) for mark in node.decorator_list)
        unasked = name.startswith("pytest_") or name in _OF_MODULES or (name in _OF_CLASSES and owner in known)
        return not unasked and all(map(_is_fixture, node.decorator_list))
    if isinstance(node, ast.ClassDef):
        return not node.decorator_list and not any(isinstance(one, ast.Call) for one in ast.walk(node))
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    constant = isinstance(node, (ast.Assign, ast.AnnAssign)) and all(isinstance(one, ast.Name) for one in targets)
    return isinstance(node, _IMPORTS) or (constant and not any(isinstance(one, ast.Call) for one in ast.walk(node)))


def _for_all(new: Iterable[ast.stmt], old: Iterable[ast.stmt]) -> bool:
    """Whether there are more fixtures that run without being asked for than there were."""
    counts = [sum("autouse" in ast.unparse(mark) for node in body for mark in _marks(node)) for body in (new, old)]
    return counts[0] > counts[1]


def _marks(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, (*_DEFS, ast.ClassDef)) else []


def _parts(body: Iterable[ast.stmt], fixtures: Collection[str]) -> Iterator[str]:
    for node in body:
        yield from _parts_of(node, fixtures)


def _parts_of(node: ast.stmt, fixtures: Collection[str]) -> list[str]:
    """What has to stay of a statement: of an import each name that it binds, of a declared fixture its name alone."""
    if isinstance(node, _DEFS) and node.name in fixtures:
        return [f"fixture {node.name}"]
    if isinstance(node, _IMPORTS):
        return [f"import {name}" for name in _bound(node)]
    return [ast.dump(node)]


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, (*_DEFS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, _IMPORTS):
        return [one.asname or one.name.partition(".")[0] for one in node.names]
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _asked_for(test: str, tree: TestTree) -> frozenset[str]:
    """`path::name` of every fixture and helper of the repository that a test comes to, the nearest of a name; of a test that its
    class inherits from elsewhere, what runs around the tests of the class."""
    if is_javascript(file_of(test)):
        return helpers_of(test, read=tree.read, present=tree.present)
    _, asked, known = _reading(test, tree)
    return _closure(asked, known)


def _reading(test: str, tree: TestTree) -> tuple[_Function | None, set[str], _Found]:
    """A test as its file has it, the names that it asks for, and what these names stand for where it is."""
    path, _, name = test.partition("::")
    data = tree.read(path) or b""
    owner, _, last = name.rpartition("::")
    family = _with_bases(owner, data)
    spelled = {name, *(f"{one}::{last}" for one in family)}
    node = next(((one, owners) for found, one, owners in test_functions(data) if found in spelled), None)
    asked = {f"{one}::{around}" for one in family for around in _OF_CLASSES}
    known: _Found = {}
    for other in sorted(reached([path], present=tree.present, roots=tree.roots, read=tree.read)):
        if is_test_path(other):
            known |= {one: (other, asks) for one, asks in _helpers(_statements(tree.read(other))).items()}
    for folder in reversed(PurePosixPath(path).parents):
        own = str(folder / "conftest.py")
        known |= {one: (own, asks) for one, asks in _askable(_statements(tree.read(own))).items()}
    body = _statements(data)
    known |= {one: (path, asks) for one, asks in {**_tests(body), **_askable(body)}.items()}
    if node is None:
        return None, asked, known
    function, owners = node
    marks = [*function.decorator_list, *(mark for owner in owners for mark in owner.decorator_list)]
    words = _words_in(function)
    asked |= {*words, *_used(marks), *(f"{one}::{word}" for one in family for word in words)}
    return function, asked, known


def _with_bases(owner: str, data: bytes) -> set[str]:
    """A class of a file and the classes of that file that it comes from."""
    bases = {
        node.name: [one.id for one in node.bases if isinstance(one, ast.Name)]
        for node in _statements(data)
        if isinstance(node, ast.ClassDef)
    }
    seen: set[str] = set()
    left = {owner} if owner else set()
    while left:
        seen |= left
        left = {base for one in left for base in bases.get(one, ())} - seen
    return seen


def _closure(names: set[str], known: Mapping[str, tuple[str, frozenset[str]]]) -> frozenset[str]:
    seen: set[str] = set()
    while left := {one for one in names if one in known} - seen:
        seen |= left
        owners = {one.rpartition("::")[0] for one in left} - {""}
        words = {asked for one in left for asked in known[one][1]}
        names = words | {f"{owner}::{word}" for owner in owners for word in words}
    return frozenset(f"{known[one][0]}::{one}" for one in seen)


def _used(marks: Iterable[ast.expr]) -> Iterator[str]:
    """Names in `pytest.mark.usefixtures`."""
    for mark in marks:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("usefixtures"):
            yield from (str(one.value) for one in mark.args if isinstance(one, ast.Constant))


def _askable(body: Iterable[ast.stmt]) -> _Asks:
    """The fixtures and helpers that a module defines under their own names, with the names that each asks for."""
    statements = list(body)
    return {**_helpers(statements), **_fixtures(statements)}


def _fixtures(body: Iterable[ast.stmt]) -> _Asks:
    """The fixtures of a module; what runs around the tests of a class is one of theirs."""
    return {
        node.name: _words_in(node)
        for node in body
        if isinstance(node, _DEFS) and (_is_around(node) or any(_is_fixture(mark) for mark in node.decorator_list))
    }


def _helpers(body: Iterable[ast.stmt]) -> _Asks:
    """The functions of a module of tests that are no tests, and that nobody calls but who names them."""
    return {
        node.name: _words_in(node)
        for node in body
        if isinstance(node, _DEFS) and not node.decorator_list and not _is_unasked(node.name)
    }


def _is_unasked(name: str) -> bool:
    """Whether a runner calls a function of this name by itself."""
    last = name.rpartition("::")[2]
    return last.startswith(("test", "pytest_")) or last in _OF_MODULES or last in _OF_CLASSES


def _is_around(node: _Function) -> bool:
    return "::" in node.name and node.name.rpartition("::")[2] in _OF_CLASSES


def _is_fixture(mark: ast.expr) -> bool:
    plain = mark.func if isinstance(mark, ast.Call) else mark
    named = isinstance(mark, ast.Call) and any(one.arg == "name" for one in mark.keywords)
    return ast.unparse(plain).rpartition(".")[2] == "fixture" and not named


def _arguments(node: _Function) -> list[str]:
    return [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _statements(data: bytes | None) -> list[ast.stmt]:
    """The statements of a module; a class is its head, followed by its members under `Class::name`."""
    return [*_flat(module_of(data).body, "")]


def _flat(body: Iterable[ast.stmt], owner: str) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            name = f"{owner}::{node.name}" if owner else node.name
            yield ast.ClassDef(
                name=name,
                bases=node.bases,
                keywords=node.keywords,
                body=[ast.Pass()],
                decorator_list=node.decorator_list,
            )
            yield from _flat(node.body, name)
        elif owner and isinstance(node, _DEFS):
            node.name = f"{owner}::{node.name}"
            yield node
        elif owner:
            yield _of_class(node, owner)
        else:
            yield node


def _of_class(node: ast.stmt, owner: str) -> ast.stmt:
    """A statement of a class body, which binds nothing in the module: as a constant where it does nothing by itself."""
    text = f"{owner}: {ast.dump(node)}"
    words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if words or isinstance(node, ast.Pass) or _is_quiet(node, ()):
        return ast.Assign(targets=[ast.Name(id=text, ctx=ast.Store())], value=ast.Constant(value=None))
    return ast.Expr(value=ast.Constant(value=text))
