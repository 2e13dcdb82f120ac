"""A private home for every test of the command line, and runs made of events instead of work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState

Watch = Callable[[Event, RunState], None]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither the user's settings nor the user's keys reach a test."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("API_KEY", "BASE_URL", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("AGENTFORGE_HOME", str(folder / "af"))
    monkeypatch.setenv("USER", "ann")
    monkeypatch.chdir(tmp_path)
    return folder


@dataclass
class Story:
    """Events told one by one, one second apart; whoever watches sees what a real run would show."""

    watch: Watch = lambda _event, _state: None
    state: RunState = field(default_factory=RunState)
    second: int = 0

    @property
    def started(self) -> Event:
        return STARTED

    @property
    def question(self) -> Event:
        return QUESTION

    @property
    def delivered(self) -> tuple[Event, ...]:
        return DELIVERED

    def stage(self, name: str, *, step: int = 1) -> tuple[Event, ...]:
        return stage_events(name, step=step)

    def tell(self, *events: Event) -> RunState:
        for event in events:
            self.second += 1
            self.state = evolve(
                self.state, event, at=f"2026-11-21T10:{self.second // 60:02d}:{self.second % 60:02d}.000000Z"
            )
            self.watch(event, self.state)
        return self.state


STARTED = kinds.RunStarted(
    kind="task",
    run_id="task-1",
    request="add slugify",
    repo="/repo",
    base_commit="b" * 40,
    base_ref="main",
    branch="agentforge/task-1",
    model="custom/m",
)


def stage_events(stage: str, *, step: int, tool: str = "edit", summary: str = "1 replacement") -> tuple[Event, ...]:
    """A stage that needs one model call and passes."""
    usage = {"prompt_tokens": 2000, "completion_tokens": 300, "cached_tokens": 500}
    call = {"call_id": "c1", "name": tool, "arguments": "{}"}
    verdict = kinds.StageVerified(
        stage=stage,
        attempt=1,
        passed=True,
        contract=stage,
        contract_digest="d",
        artifact=ARTIFACTS.get(stage, {}),
        artifact_digest="a",
        results=({"rule": "schema", "passed": True}, {"rule": "other", "passed": True}),
    )
    return (
        kinds.StageStarted(stage=stage, attempt=1),
        kinds.ModelCalled(step=step, stage=stage, attempt=1, model="custom/m", request="r", context_tokens=2000),
        kinds.ModelReplied(
            step=step, text="", tool_calls=(call,), finish="tool_calls", usage=usage, model="custom/m", cost_usd=0.02
        ),
        kinds.ToolStarted(step=step, index=0, call_id="c1", name=tool, arguments={"path": "src/ä.py"}, effect="write"),
        kinds.ToolFinished(step=step, index=0, call_id="c1", name=tool, status="success", summary=summary),
        kinds.StepFinished(step=step, stage=stage, summary=""),
        kinds.ArtifactSubmitted(stage=stage, attempt=1, draft={}, by="model", step=step),
        verdict,
        kinds.StagePassed(stage=stage, artifact_digest="a"),
    )


ARTIFACTS: dict[str, dict[str, object]] = {
    "clarify": {"questions": [{"question": "Unicode?", "source": "assumption", "answer": "ASCII only"}]},
    "spec": {"requirements": [{"id": "REQ-001", "description": "slugs"}, {"id": "REQ-002", "description": "empty"}]},
    "red": {"coverage_mapping": {"REQ-001": ["tests/t.py::test_a", "tests/t.py::test_b", "tests/t.py::test_c"]}},
}

QUESTION = kinds.EscalationRaised(
    escalation_id="E1",
    stage="clarify",
    kind="question",
    reason="a blocking question",
    question="Which one?\nthe \x1b[31mred\x1b[0m one",
    options=("red", "blue"),
)
DELIVERED = (
    kinds.Delivered(branch="agentforge/task-1", commit="c" * 40, tree="t"),
    kinds.RunFinished(outcome="delivered"),
)


@pytest.fixture
def story() -> Story:
    return Story()
