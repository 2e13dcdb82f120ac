"""The file beneath a sample: what it is put into and what a model is shown, without what an earlier sample left there.

A sample that passed alone stands in the workspace until others agree with it. They would be worth nothing if they had seen it:
whoever reads a definition writes the same one again.
"""

from __future__ import annotations

import ast

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.generation.units import Unit
from agentforge.pipeline.small_models.refactoring.splices import find_definition, first_line


def text_beneath(state: RunState, runtime: Runtime, unit: Unit) -> str:
    """The unit's file as the last unit left it, else as it was before this stage; "" = there is none."""
    before = text_before(state, runtime, unit)
    if not state.progress.turn.written:
        return before
    file = runtime.worktree / unit.file
    now = file.read_text("utf-8") if file.is_file() else ""
    return _put_back(now, before, unit) if is_waiting(state, unit) else now


def text_before(state: RunState, runtime: Runtime, unit: Unit) -> str:
    """The unit's file as it was before this stage."""
    tree = state.work.trees.get("red") or state.work.trees["baseline"]
    return (runtime.git.show(tree, unit.file) or b"").decode("utf-8", "replace")


def is_waiting(state: RunState, unit: Unit) -> bool:
    """Whether a sample of the unit that passed alone waits in the workspace for others."""
    return rounds_alone(state, unit) > 0


def rounds_alone(state: RunState, unit: Unit) -> int:
    """In how many rounds a sample of the unit passed and nothing agreed with it."""
    return state.progress.turn.alone.get(unit.name, 0)


def _put_back(now: str, before: str, unit: Unit) -> str:
    """The file of now with the unit as it was before; without it, where it is new."""
    there = find_definition(ast.parse(now), unit.name)
    if there is None:
        return now
    old = find_definition(ast.parse(before), unit.name)
    lines, known = now.splitlines(keepends=True), before.splitlines(keepends=True)
    kept = known[first_line(old) - 1 : old.end_lineno] if old is not None else []
    text = "".join([*lines[: first_line(there) - 1], *kept, *lines[there.end_lineno :]])
    try:
        ast.parse(text)
    except SyntaxError:  # a class whose only method it was
        return now
    return text
