"""States of a run as tables need them: a task inside a stage, with the artifacts of the stages before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import EscalationResolved, Event, RunStarted
from agentforge.events.state.attempt import StageState, Submission, Turn, Verdict
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.stages import ORDER
from tests.support.run_states import run_state, with_fields

BASE = "b" * 40
TREE = "1" * 40

INTAKE: dict[str, Any] = {
    "request_id": "task-1",
    "original_request": "Add slugify",
    "goal": "slugify(text) gives a slug",
    "extracted_intent": {"action": "create", "target": "textkit", "scope": "module"},
    "examples": ["slugify('A b') -> 'a-b'"],
    "identified_ambiguities": [],
}
SPEC: dict[str, Any] = {
    "spec_id": "spec-1",
    "title": "Add slugify",
    "description": "what was asked",
    "requirements": [
        {"id": "REQ-001", "description": "it lowers", "acceptance_criteria": ["slugify('A b') == 'a-b'", "'' stays"]},
        {"id": "REQ-002", "description": "it joins", "acceptance_criteria": ["one hyphen"]},
    ],
    "symbols": [{"name": "slugify", "file": "kit/slug.py", "kind": "function", "change": "new"}],
    "files_to_modify": ["kit/text.py"],
    "files_to_create": ["kit/slug.py"],
    "constraints": [{"id": "C1", "description": "no dependency"}],
}
RED: dict[str, Any] = {
    "suite_id": "suite-1",
    "test_files": [{"path": "tests/test_slug.py", "tests": [{"name": "test_a", "requirement_ref": "REQ-001"}]}],
    "coverage_mapping": {"REQ-001": ["tests/test_slug.py::test_a"], "REQ-002": ["tests/test_slug.py::test_b"]},
}
ARTIFACTS: dict[str, dict[str, Any]] = {
    "intake": INTAKE,
    "clarify": {"questions": [{"question": "Unicode?", "answer": "ASCII", "source": "assumption"}]},
    "analyze": {"summary": "small", "impacted_files": ["kit/text.py"], "risks": []},
    "spec": SPEC,
    "red": RED,
    "green": {"implementation_id": "impl-1"},
    "refactor": {"deliverable_id": "d-1"},
    "deliver": {"task_id": "task-1"},
}
BASELINE: dict[str, Any] = {
    "measured": True,
    "runner": "pytest",
    "command": "pytest",
    "tests": 2,
    "passed": 2,
    "attempt": 1,
}


def before(stage: str, *, action: str = "create", **changes: Any) -> RunState:
    """Between the stages: everything before `stage` is verified."""
    done = ORDER[: ORDER.index(stage)] if stage in ORDER else ORDER
    artifacts = {name: ARTIFACTS[name] for name in done}
    if "intake" in artifacts:
        artifacts["intake"] = {**INTAKE, "extracted_intent": {**INTAKE["extracted_intent"], "action": action}}
    state = run_state(
        run_id="task-1", request="Add slugify", base_commit=BASE, branch="agentforge/task-1",
        artifacts=artifacts, facts={"baseline": BASELINE}, trees={"baseline": TREE},
        stages={name: StageState(status="verified", attempt=1) for name in done},
    )  # fmt: skip
    return with_fields(state, **changes)


def inside(stage: str, *, status: str = "running", attempt: int = 1, **changes: Any) -> RunState:
    """In an attempt of `stage`."""
    state = before(stage)
    stages = {**state.progress.stages, stage: StageState(status=status, attempt=attempt)}  # type: ignore[arg-type]
    return with_fields(state, stage=stage, stages=stages, **changes)


def failed(stage: str, *, attempt: int = 1, rule: str = "holds", **changes: Any) -> RunState:
    """After an attempt that did not pass."""
    findings = ({"rule": rule, "passed": False, "message": "no", "path": ""},)
    return inside(stage, status="failed", attempt=attempt, findings=findings, **changes)


def passed(stage: str, *, digest: str = "d1", **changes: Any) -> RunState:
    """After a verdict that passed, before the stage does."""
    verdict = Verdict(passed=True, attempt=1, results=(), artifact={}, artifact_digest=digest)
    return inside(stage, verdict=verdict, **changes)


def submitted(stage: str, draft: Mapping[str, Any] | None = None, **changes: Any) -> RunState:
    """With a draft; `facts` once they are measured."""
    facts = changes.pop("facts_of_draft", None)
    return inside(stage, submission=Submission(draft=draft or {}, by="model", facts=facts), **changes)


def asked(
    stage: str,
    *,
    kind: str = "question",
    decision: str | None = None,
    text: str = "",
    number: int = 1,
    reopen: str = "",
    **context: Any,
) -> dict[str, Escalation]:
    """One escalation, answered where a decision is given."""
    name = f"E{number}"
    answer = EscalationResolved(escalation_id=name, decision=decision or "answer", text=text, reopen=reopen)  # type: ignore[arg-type]
    resolution = answer if decision else None
    item = Escalation(
        escalation_id=name, stage=stage, kind=kind, reason="r", question="?", options=(), context=context,
        raised_at="2026-01-01T00:00:00Z", resolution=resolution, resolved_at="2026-01-01T01:00:00Z",
    )  # fmt: skip
    return {name: item}


def replied(state: RunState) -> RunState:
    """In the middle of a step."""
    return with_fields(state, turn=Turn(step=1, replied=True))


def fold(*events: Event, state: RunState | None = None) -> RunState:
    """Fold events a second apart."""
    now = state or evolve(
        RunState(),
        RunStarted(kind="task", run_id="task-1", request="Add slugify", repo="/repo", base_commit=BASE),
        at="2026-01-01T00:00:00Z",
    )
    for second, event in enumerate(events, 1):
        now = evolve(now, event, at=f"2026-01-01T00:{second // 60 % 60:02d}:{second % 60:02d}Z")
    return now
