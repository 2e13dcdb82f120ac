"""Stages, profiles and workflows are data: what differs between them is a field of their row, and no `if` of the core asks who it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.pipeline.stages import WORKFLOWS

SOURCE = Path(__file__).parents[2] / "src/agentforge"
CORE = ("agent", "app", "pipeline")
ROWS = ("pipeline/stages", "pipeline/workflows", "pipeline/small_models")
"""Where the rows are, and what they alone use."""
STAGES = {stage for workflow in WORKFLOWS.values() for stage in workflow.order}
ASKED = ("profile", "workflow")


def test_the_core_asks_for_no_stage_profile_or_workflow_by_its_name() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for room in CORE
        for path in sorted((SOURCE / room).rglob("*.py"))
        if not path.relative_to(SOURCE).as_posix().startswith(ROWS)
        for line in asked_by_name(ast.parse(path.read_text("utf-8")))
    ]
    assert found == [], "make what differs a field of the stage's, the profile's or the workflow's row"


@pytest.mark.parametrize(
    "code",
    [
        'if stage.name == "red": pass',
        'x = 1 if effect.stage in ("red", "green") else 2',
        "if state.brief.profile: pass",
        "if a and not options.workflow: pass",
        "x = [a for a in b if state.brief.workflow == SPLIT]",
        "while not profile: pass",
    ],
)
def test_such_a_question_is_seen(code: str) -> None:
    assert list(asked_by_name(ast.parse(code))) == [1]


@pytest.mark.parametrize(
    "code", ["if stage.takes_tests: pass", 'if action == "analyze": pass', "if profile_of(state).inspects: pass"]
)
def test_a_field_is_no_such_question(code: str) -> None:
    assert list(asked_by_name(ast.parse(code))) == []


def asked_by_name(tree: ast.AST) -> Iterator[int]:
    """The lines that compare a stage with a stage's name, or decide by who a profile or a workflow is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = {one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)}
            by_stage = any(_last(side) == "stage" or _is_name_of_stage(side) for side in sides) and names & STAGES
            if by_stage or any(_last(side) in ASKED for side in sides):
                yield node.lineno
        yield from (test.lineno for test in _tests(node) if _last(test) in ASKED)


def _tests(node: ast.AST) -> list[ast.expr]:
    """The expressions that are true or false for a decision."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_name_of_stage(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "name" and _last(node.value) == "stage"
