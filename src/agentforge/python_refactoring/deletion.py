"""The plan of a deletion: nothing that is still used goes; tests that speak of nothing else go with it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.plan import RefactoringPlan, Target, shown_places
from agentforge.python_refactoring.project import (
    PythonFile,
    PythonProject,
    SymbolReference,
    member_references,
    module_references,
    plain_mentions,
    references,
    spellings_of,
)
from agentforge.python_refactoring.removal import definitions, lines_of, within, without
from agentforge.verification.source.test_hashes import test_functions

_Test = tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, tuple[ast.ClassDef, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Going:
    """Statements that go, by path; modules go as a whole."""

    targets: Sequence[Target]
    nodes: dict[str, list[ast.stmt]]
    modules: frozenset[str]

    def holds(self, path: str, line: int) -> bool:
        return path in self.modules or within(line, lines_of(self.nodes.get(path, [])))


def deletion(project: PythonProject, targets: Sequence[Target]) -> RefactoringPlan:
    """Take definitions or modules out of a project.

    Raises:
        Unclear: something still uses them; the message names the places.
    """
    nodes: dict[str, list[ast.stmt]] = {}
    for one in targets:
        if one.name:
            nodes.setdefault(one.source.path, []).extend(definitions(one.source, one.name))
    going = _Going(targets=targets, nodes=nodes, modules=frozenset(one.source.path for one in targets if not one.name))
    found = [ref for one in targets for ref in _references(project, one) if not going.holds(ref.source.path, ref.line)]
    _refuse_uses(project, going, [one for one in found if not one.source.is_test])
    files: dict[str, str | None] = dict.fromkeys(going.modules)
    symbols = [symbol for one in targets for symbol in _symbols(one)]
    ended: list[str] = []
    for path in sorted({one.source.path for one in found} | set(nodes)):
        source = project.sources[path]
        mine = [one for one in found if one.source is source]
        if source.is_test:
            ids, text = _test_file(project, source, going, mine)
            ended += ids
        else:
            text = without(project, source, nodes.get(path, []), references=mine)
        files[path] = text
    names = ", ".join(one.name or one.source.path for one in targets)
    with_tests = f", with {len(ended)} tests that speak of nothing else" if ended else ""
    return RefactoringPlan(
        files=files,
        symbols=tuple(symbols),
        ended=tuple(ended),
        told=f"{names} is deleted{with_tests}",
        targets=tuple(targets),
    )


def _references(project: PythonProject, target: Target) -> list[SymbolReference]:
    if not target.name:
        return module_references(project, target.source.path)
    if "." in target.name:
        last = target.name.rpartition(".")[2]
        if last.startswith("__") and last.endswith("__"):
            raise Unclear(f"{target.name} is called by Python itself: the tree cannot tell where")
        return [*member_references(project, last), *_beside(target, last)]
    return references(project, target.source.path, target.name)


def _beside(target: Target, name: str) -> Iterator[SymbolReference]:
    """The uses of a member by its bare name in the body of its class."""
    names = target.source.names
    owner = target.name.rpartition(".")[0].rpartition(".")[2]
    for scope in names.scopes:
        if isinstance(scope.node, ast.ClassDef) and scope.node.name == owner:
            for one in names.of(scope, name):
                if isinstance(one.node.ctx, ast.Load):
                    yield SymbolReference(source=target.source, kind="name", node=one.node, line=one.line, name=one)


def _refuse_uses(project: PythonProject, going: _Going, found: Sequence[SymbolReference]) -> None:
    """Say where what is to go is still used."""
    whole = bool(going.modules)
    used = [one.place for one in found if whole or one.kind not in ("import", "export")]
    words = [
        word
        for one in going.targets
        for module in spellings_of(project, one.source.path)
        for word in ([f"{module}:{one.name}"] if one.name else [f"{module}:", one.source.path, f"-m {module}"])
    ]
    used += plain_mentions(project, words)
    if used:
        names = ", ".join(one.shown for one in going.targets)
        raise Unclear(f"{names} is still used: {shown_places(used)}")


def _symbols(target: Target) -> Iterator[tuple[str, str, str, str]]:
    path = target.source.path
    if target.name:
        yield target.name, path, target.kind, "removed"
        return
    for node in target.source.tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, path, "class" if isinstance(node, ast.ClassDef) else "function", "removed"


def _test_file(
    project: PythonProject, source: PythonFile, going: _Going, found: Sequence[SymbolReference]
) -> tuple[list[str], str | None]:
    """The tests of a file that end, and what is left of it; None = nothing.

    Raises:
        Unclear: something in it uses what goes and cannot go with it.
    """
    tests = list(test_functions(source.text.encode()))
    lines = [line for one in found for line in _lines_of_use(source, one, whole=bool(going.modules))]
    ended = [one for one in tests if any(within(line, lines_of([one[1]])) for line in lines)]
    spans = lines_of([one[1] for one in ended])
    outside = [f"{source.path}:{line}" for line in lines if not within(line, spans)]
    names = ", ".join(one.name or one.source.path for one in going.targets)
    if outside:
        raise Unclear(f"tests use {names} outside of a test function: {shown_places(outside)}")
    more = [f"{source.path}::{name}" for name, node, _ in ended if _speaks_of_more(project, source, node, going)]
    if more:
        raise Unclear(
            f"{shown_places(more)} uses {names} beside other things: change it first, or say that it goes, too"
        )
    if len(ended) == len(tests) and tests:
        if module_references(project, source.path):
            raise Unclear(f"{source.path} has no test left without {names}, and other files import it")
        return [f"{source.path}::{name}" for name, _, _ in ended], None
    places = {(one.lineno, one.col_offset) for one in _statements(tests, ended)}
    gone = [
        one for one in ast.walk(source.tree) if isinstance(one, ast.stmt) and (one.lineno, one.col_offset) in places
    ]
    aliases = [one for one in found if one.kind in ("import", "export")]
    return [f"{source.path}::{name}" for name, _, _ in ended], without(project, source, gone, references=aliases)


def _lines_of_use(source: PythonFile, reference: SymbolReference, *, whole: bool) -> list[int]:
    """The lines on which a test file uses what a reference means: of the import of a module, those of its names."""
    if reference.kind == "export" or (reference.kind == "import" and not whole):
        return []
    if reference.kind != "import" or not isinstance(reference.node, ast.alias):
        return [reference.line]
    alias, names = reference.node, source.names
    statement = names.imports[alias]
    word = alias.asname or (alias.name if isinstance(statement, ast.ImportFrom) else alias.name.partition(".")[0])
    home = next(scope for scope in names.scopes if alias in scope.bound.get(word, []))
    inner = [] if home is names.module else [reference.line]
    return [*inner, *(one.line for one in names.of(home, word))]


def _speaks_of_more(project: PythonProject, source: PythonFile, node: ast.stmt, going: _Going) -> bool:
    """Whether a test uses other definitions of the project, or fixtures of its own."""
    spans, names = lines_of([node]), source.names
    mine = {(one.source.path, one.name.partition(".")[0]) for one in going.targets}
    for one in names.names:
        if not within(one.line, spans) or one.home is None:
            continue
        for alias in one.home.bound.get(one.word, []):
            if not isinstance(alias, ast.alias):
                continue
            path, name = project.meaning(source, alias)
            product = bool(path) and not project.sources[path].is_test
            if product and path not in going.modules and (path, name) not in mine:
                return True
            if not path and name and _other_members(project, source, one.node, name, mine):
                return True
    arguments = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    return bool(arguments & _fixtures(project))


def _other_members(
    project: PythonProject, source: PythonFile, node: ast.AST, dotted: str, mine: set[tuple[str, str]]
) -> bool:
    """Whether something else is taken from a module: `kit.other`."""
    parent = source.names.parents.get(node)
    while isinstance(parent, ast.Attribute):
        path, name = project.member(dotted, parent.attr)
        if path:
            return (path, name) not in mine
        if not name:
            return False
        dotted, parent = name, source.names.parents.get(parent)
    return False


def _fixtures(project: PythonProject) -> set[str]:
    return {
        node.name
        for one in project.sources.values()
        if one.is_test and "fixture" in one.text
        for node in ast.walk(one.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any("fixture" in ast.unparse(mark) for mark in node.decorator_list)
    }


def _statements(tests: Sequence[_Test], ended: Sequence[_Test]) -> Iterator[ast.stmt]:
    """The functions that end; the class as a whole where no test of it is left."""
    done: set[ast.stmt] = set()
    for _, node, classes in ended:
        owner = classes[-1] if classes else None
        left = [one for one in tests if owner in one[2] and one not in ended]
        whole = owner if owner is not None and not left and len(classes) == 1 else node
        if whole not in done:
            done.add(whole)
            yield whole
