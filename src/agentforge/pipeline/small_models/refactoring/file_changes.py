"""Files that the harness itself writes on the road of small models: rendered tests, renamed tests, renamed code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.generation.file_rendering import rendered_suite
from agentforge.pipeline.small_models.generation.units import oracle
from agentforge.pipeline.small_models.refactoring.rename_request import (
    Renaming,
    ambiguous,
    lines_of,
    rename_asked,
    renamed,
    renaming_of,
    taken,
    uses,
)
from agentforge.pipeline.small_models.refactoring.requests import changed_products, changed_tests
from agentforge.verification.source.test_hashes import test_functions
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import parse_python

if TYPE_CHECKING:
    from agentforge.pipeline.small_models.generation.code_map import CodeMap


def given_tests(state: RunState, runtime: Runtime) -> dict[str, bytes | None]:
    """The tests that need no model: rendered from examples, and those of the base that the tree changes; None = the file goes."""
    files: dict[str, bytes | None] = {path: text.encode() for path, text in rendered_suite(state).items()}
    rename = renaming_of(state)
    if rename is not None:
        return {**files, **_renamed_files(rename, rename.tests, state, runtime)}
    return {**files, **changed_tests(state, runtime)}


def put_tests(state: RunState, runtime: Runtime) -> bool:
    """Write what RED needs no model for: the user's tests, else those of the examples; and tests that the tree changes.

    Returns:
        whether there is any.
    """
    files: dict[str, bytes | None] = dict(runtime.supplied)
    files = {**changed_tests(state, runtime), **files} if files else given_tests(state, runtime)
    put(runtime, files)
    return bool(files)


def carry_out(state: RunState, runtime: Runtime) -> None:
    """Write the product files of a mechanical change into the workspace; done twice it is the same."""
    rename = renaming_of(state)
    if rename is not None:
        put(runtime, _renamed_files(rename, rename.files, state, runtime))
    else:
        put(runtime, changed_products(state, runtime))


def put(runtime: Runtime, files: Mapping[str, bytes | None]) -> None:
    """Write files into the workspace, and take away those that go (None)."""
    for path, data in files.items():
        file = runtime.worktree / path
        if data is None:
            file.unlink(missing_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def measured_renaming(state: RunState, runtime: Runtime, code: CodeMap) -> tuple[dict[str, object], str]:
    """What a renaming changes: ({old, new, file, kind, line, files, tests, functions}, why it cannot be done by the tree).

    Returns:
        ({}, "") when the request asks for none.
    """
    asked = rename_asked(state.request)
    if asked is None:
        return {}, ""
    old, new = asked
    there = code.defining(old) or [
        one
        for rows in code.symbols.values()
        for one in rows
        if one.name == old and one.kind in ("function", "method", "class")
    ]
    if len(there) != 1:
        return {}, f"{old} is defined {'nowhere' if not there else 'several times'}: name it like Class.method"
    symbol, last = there[0], there[0].name
    if sum(one.name == last for rows in code.symbols.values() for one in rows) > 1:
        return {}, f"{last} is defined several times, and the tree alone does not tell which one is meant where"
    texts = _sources(state, runtime)
    files = [path for path, text in texts.items() if uses(text, last)]
    reasons = [f"{path}: {reason}" for path in files if (reason := ambiguous(texts[path], last))]
    reasons += [
        f"{path} has a {new} already" for path in files if taken(texts[path], new, member="." in symbol.qualified)
    ]
    tests = {path: _functions(path, texts[path], last) for path in files if is_test_path(path)}
    functions = [nodeid for inside, _ in tests.values() for nodeid in inside]
    if not functions and not state.tests and not oracle(state):
        reasons.append(f"no test uses {last}: give an example of {new}, like {new}(1) -> 2, or --tests")
    value: dict[str, object] = {
        "old": symbol.qualified,
        "new": new,
        "file": symbol.path,
        "kind": symbol.kind,
        "line": symbol.line,
        "files": [path for path in files if not is_test_path(path)],
        "tests": [path for path in files if is_test_path(path)],
        "functions": functions,
        "affected": [nodeid for _, affected in tests.values() for nodeid in affected],
    }
    return value, "; ".join(reasons[:3])


def _sources(state: RunState, runtime: Runtime) -> dict[str, str]:
    """All Python files of the base that parse."""

    out = {}
    for path in runtime.git.list_files(state.base_commit):
        if path.endswith(".py"):
            text = (runtime.git.show(state.base_commit, path) or b"").decode("utf-8", "replace")
            if not isinstance(parse_python(text), str):
                out[path] = text
    return out


def _functions(path: str, text: str, name: str) -> tuple[list[str], list[str]]:
    """The test functions of a file that use a name; and those that need it to be collected: all, where it stands outside."""
    import textwrap

    lines, found, every, inside = text.splitlines(), list[str](), list[str](), set[int]()
    for test, node, _ in test_functions(text.encode()):
        every.append(f"{path}::{test}")
        inside.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if uses(textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno])), name):
            found.append(f"{path}::{test}")
    outside = any(row not in inside for row in lines_of(text, name))
    return found, every if outside else found


def _renamed_files(rename: Renaming, paths: tuple[str, ...], state: RunState, runtime: Runtime) -> dict[str, bytes]:
    out = {}
    for path in paths:
        source = (runtime.git.show(state.base_commit, path) or b"").decode("utf-8", "replace")
        out[path] = renamed(source, rename.last, rename.new).encode()
    return out
