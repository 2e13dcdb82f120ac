"""What the user's own tests ask for: the names that they take from the project's modules, there or still to be written.

Which tests speak of a unit, and how a model is shown them.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import items
from agentforge.pipeline.small_models.generation.suite_template import assertions
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit, units_of
from agentforge.pipeline.small_models.reading.request_parser import words_of
from agentforge.testing.outcome import without_parameters
from agentforge.tokens import count_tokens
from agentforge.verification.source.test_hashes import test_functions
from agentforge.workspace.code.symbols import parse_python

if TYPE_CHECKING:
    from agentforge.pipeline.small_models.generation.code_map import CodeMap


def units_of_tests(state: RunState, runtime: Runtime, code: CodeMap) -> list[dict[str, object]]:
    """The functions, methods and classes that supplied tests need and the base lacks; else those that the request names.

    A test that uses only what exists tells no place by itself: its single name does, several leave the choice open.
    """
    used: dict[str, dict[str, object]] = {}
    for path in state.brief.tests:
        data = runtime.supplied.get(path) or runtime.git.show(state.identity.base_commit, path) or b""
        tree = parse_python(data.decode("utf-8", "replace"))
        if isinstance(tree, ast.Module):
            for file, name in _used(tree, code):
                used.setdefault(name, {"name": name, "file": file, "calls": []})
    missing = [row for row in used.values() if not code.defining(str(row["name"]))]
    if missing:
        whole = {str(row["name"]) for row in missing}
        return [row for row in missing if str(row["name"]).rpartition(".")[0] not in whole]
    words = words_of(state.brief.request)
    named = [row for row in used.values() if str(row["name"]).rpartition(".")[2] in words or row["name"] in words]
    methods = [row for row in named if "." in str(row["name"])]
    rows = methods or named or list(used.values())
    return rows if len(rows) == 1 else []


def _used(tree: ast.Module, code: CodeMap) -> Iterator[tuple[str, str]]:
    """(file, dotted name) of what a test module takes from product modules, and of what it calls on objects of its classes."""
    imported: dict[str, tuple[str, str]] = {}
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            file = _file_of(node.module, code)
            for one in node.names:
                inner = _known_file(f"{node.module}.{one.name}", code)
                if inner:
                    modules[one.asname or one.name] = inner
                elif file:
                    imported[one.asname or one.name] = (_defining_file(file, one.name, code), one.name)
        elif isinstance(node, ast.Import):
            for one in node.names:
                file = _known_file(one.name, code)
                if file:
                    modules[one.asname or one.name] = file
    yield from imported.values()
    yield from _through_modules(tree, modules)
    yield from _on_objects(tree, imported, code)


def _file_of(module: str, code: CodeMap) -> str:
    """The file of a product module; one that is still to be written beside known packages counts."""
    known = _known_file(module, code)
    if known:
        return known
    top = module.partition(".")[0]
    packages = {name.partition(".")[0] for name in code.modules.values()}
    if "." in module and top not in packages:
        return ""

    if top in sys.stdlib_module_names or top in ("pytest", "unittest", "hypothesis", "numpy"):
        return ""
    folder = next((file.rpartition("/")[0] for file, name in code.modules.items() if name.partition(".")[0] == top), "")
    inside = module.partition(".")[2].replace(".", "/")
    prefix = folder.split("/")[0] if folder.startswith("src/") else ""
    path = f"{top}/{inside}" if inside else top
    return f"{prefix}/{path}.py".lstrip("/")


def _known_file(module: str, code: CodeMap) -> str:
    return next((file for file, name in code.modules.items() if name == module), "")


def _defining_file(file: str, name: str, code: CodeMap) -> str:
    """Where a name that a package passes on is really defined."""
    if any(one.qualified == name for one in code.symbols.get(file, ())):
        return file
    found = {one.path for one in code.defining(name)}
    return found.pop() if len(found) == 1 else file


def _through_modules(tree: ast.Module, modules: dict[str, str]) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def _on_objects(tree: ast.Module, imported: dict[str, tuple[str, str]], code: CodeMap) -> Iterator[tuple[str, str]]:
    """Methods that tests call on objects that they made from an imported class."""
    classes = {
        local: place for local, place in imported.items() if any(one.kind == "class" for one in code.defining(place[1]))
    }
    variables: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Name) and node.value.func.id in classes:
                    variables[target.id] = node.value.func.id
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        made = node.func.value
        owner = ""
        if isinstance(made, ast.Name):
            owner = variables.get(made.id) or (made.id if made.id in classes else "")
        elif isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            owner = made.func.id if made.func.id in classes else ""
        if owner:
            yield classes[owner][0], f"{classes[owner][1]}.{node.func.attr}"


_SHOWN_TOKENS = 340


def tests_shown(state: RunState, runtime: Runtime, unit: Unit) -> str:
    """The examples as assertions, else the supplied test functions that name the unit, the shortest first."""
    claims = claims_by_unit(state)[unit.name]
    shown = assertions(claims)
    if not state.brief.tests:
        return shown
    functions = [text for _, text, names in _functions(state, runtime) if unit.last in names]
    parts, room = [shown] if shown else [], _SHOWN_TOKENS
    for text in sorted(functions, key=len):
        room -= count_tokens(text)
        if room < 0 and parts:
            break
        parts.append(text)
    return "\n\n".join(parts)


def tests_wanted(state: RunState, runtime: Runtime, unit: Unit) -> frozenset[str]:
    """The ids (without parameters) of the tests that must pass once a unit is written: those that name no later unit."""
    units = units_of(state)
    written = {one.name for one in units if one.name in state.progress.turn.written} | {unit.name}
    missing = {one.last for one in units if one.name not in written}
    rows = [without_parameters(str(row.get("id"))) for row in items(state.work.facts.get("red", {}).get("tests"))]
    if not missing:
        return frozenset(rows)
    later = {nodeid for nodeid, _, names in _functions(state, runtime) if missing & names}
    return frozenset(rows) - later


def _functions(state: RunState, runtime: Runtime) -> list[tuple[str, str, frozenset[str]]]:
    """(id, source, names that it uses) of every test function of the suite."""
    found = []
    for path in suite_files(state):
        data = runtime.supplied.get(path) or _in_worktree(runtime, path)
        source = data.decode("utf-8", "replace")
        for name, node, _ in test_functions(data):
            text = textwrap.dedent("\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno]))
            found.append((f"{path}::{name}", text, _names(node)))
    return found


def _in_worktree(runtime: Runtime, path: str) -> bytes:
    file = runtime.worktree / path
    return file.read_bytes() if file.is_file() else b""


def _names(node: ast.AST) -> frozenset[str]:
    words = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    words |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return frozenset(
        words | {alias.name for one in ast.walk(node) if isinstance(one, ast.ImportFrom) for alias in one.names}
    )
