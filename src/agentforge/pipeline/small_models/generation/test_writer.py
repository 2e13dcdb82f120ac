"""Which tests speak of a unit, and how a model is shown them."""

from __future__ import annotations

import ast
import textwrap

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import items
from agentforge.pipeline.small_models.generation.file_rendering import assertions
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit, units_of
from agentforge.tokens import count_tokens
from agentforge.verification.source.test_hashes import test_functions

_SHOWN_TOKENS = 340


def tests_shown(state: RunState, runtime: Runtime, unit: Unit) -> str:
    """The examples as assertions, else the supplied test functions that name the unit, the shortest first."""
    claims = claims_by_unit(state)[unit.name]
    shown = assertions(claims)
    if not state.tests:
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
    written = {one.name for one in units if one.name in state.turn.written} | {unit.name}
    missing = {one.last for one in units if one.name not in written}
    rows = [str(row.get("id")).partition("[")[0] for row in items(state.facts.get("red", {}).get("tests"))]
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
