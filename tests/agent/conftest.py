"""The agent loop on a real folder, with real tools and a scripted model; the log lives in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentforge.agent.decide import CallModel, Effect, FinishStep, RunTool, Stop, decide_turn
from agentforge.agent.model_call import perform_call_model
from agentforge.agent.perform import perform_finish_step, perform_tool
from agentforge.agent.spec import AgentSpec
from agentforge.context.minimal import StepContext, StepInputs, build_step
from agentforge.context.sections import Piece
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.models.stand_ins.scripted import ScriptedModel
from agentforge.safety.policy.scope import WriteScope
from agentforge.store.blobs import Blobs
from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext
from agentforge.tools.dispatch.invocation import InvocationPolicy
from agentforge.workspace.processes.process import Completed, run
from tests.support.run_states import with_fields

TOOLS = ("read_file", "write_file", "edit", "append_file", "apply_patch", "shell", "ask_human", "submit_artifact")


class MemoryLog:
    """A log that keeps its events in a list."""

    def __init__(self) -> None:
        self.state = RunState()
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)
        second = len(self.events)
        self.state = evolve(self.state, event, at=f"2026-01-01T{second // 60:02d}:{second % 60:02d}:00Z")

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    def last(self, kind: type[Any]) -> Any:
        return [event for event in self.events if isinstance(event, kind)][-1]


class Bench:
    """A stage `green` on a folder, and what a test wants to do with it."""

    def __init__(self, root: Path, log: MemoryLog, spec: AgentSpec) -> None:
        self.root = root
        self.log = log
        self.spec = spec

    def performing(self, effect: Effect) -> Iterable[Event]:
        state = self.log.state
        if isinstance(effect, CallModel):
            return perform_call_model(effect, state, self.spec)
        if isinstance(effect, RunTool):
            return perform_tool(effect, state, self.spec)
        assert isinstance(effect, FinishStep)
        return perform_finish_step(effect, state, self.spec)

    def do(self, effect: Effect) -> list[Event]:
        before = len(self.log.events)
        for event in self.performing(effect):
            self.log.append(event)
        return self.log.events[before:]

    def step(self) -> list[Event]:
        """One model call, its tools, its end; or as far as a human must be asked."""
        before = len(self.log.events)
        while not self.log.state.people.open_escalations:
            effect = decide_turn(self.log.state)
            assert not isinstance(effect, Stop), effect
            self.do(effect)
            if isinstance(effect, FinishStep):
                break
        return self.log.events[before:]

    def die_after(self, kind: type[Event]) -> None:
        """Perform effects until an event of this kind is durable, then stop as a killed process does."""
        while True:
            effect = decide_turn(self.log.state)
            for event in self.performing(effect):
                self.log.append(event)
                if isinstance(event, kind):
                    return

    def with_state(self, **changes: Any) -> None:
        self.log.state = with_fields(self.log.state, **changes)


Build = Callable[..., Bench]


@pytest.fixture
def bench(tmp_path: Path) -> Build:
    """Make a bench for a list of replies; a reply is a list of (tool, arguments or raw text), a text, or a script line."""

    def make(*replies: Any, tools: tuple[str, ...] = TOOLS, mode: kinds.Mode = "autonomous", **policy: Any) -> Bench:
        root = tmp_path / "work"
        root.mkdir()
        (root / "a.py").write_text("x = 1\n")
        script = tmp_path / "script.yaml"
        script.write_text(yaml.safe_dump([_line(reply) for reply in replies]))
        log = MemoryLog()
        log.append(kinds.RunStarted(kind="task", run_id="task-1", request="r", repo="/r", base_commit="c", mode=mode))
        log.append(kinds.StageStarted(stage="green", attempt=1))
        model = ScriptedModel(script)
        spec = AgentSpec(
            model=model, model_name=model.name, context=_context, tools=find(list(tools)), tool_context=_reach(root),
            policy=InvocationPolicy(**policy), blobs=Blobs(tmp_path / "blobs"),
            snapshot=lambda _state: ("t" * 40, b"the patch"), price=lambda _reply: 0.25,
            max_output_tokens=100, temperature=None,
        )  # fmt: skip
        return Bench(root, log, spec)

    return make


def _line(reply: Any) -> dict[str, Any]:
    if isinstance(reply, dict):
        return reply
    if isinstance(reply, str):
        return {"text": reply}
    calls = [
        {"name": name, "raw": given} if isinstance(given, str) else {"name": name, "args": given}
        for name, given in reply
    ]
    return {"text": "I act.", "tool_calls": calls}


def _context(state: RunState) -> StepContext:
    return build_step(
        StepInputs(
            system="s", frame={"id": state.identity.run_id}, material=[], situation=[Piece(name="a", text="b")],
            recent=[], verification={}, tools=(),
        )
    )  # fmt: skip


def _reach(root: Path) -> ToolContext:
    def shell(command: str, *, timeout_s: float, cwd: str) -> tuple[Completed, None]:
        done = run(["bash", "-c", command], cwd=root / cwd, env={"PATH": "/usr/bin:/bin"}, timeout_s=timeout_s)
        return done, None

    def nothing(_paths: tuple[str, ...]) -> Observation:
        return Observation(status="success", summary="nothing")

    return ToolContext(
        root=root, base_commit="c", run_command=shell, run_tests=nothing, run_checks=nothing,
        git_diff=lambda _path: "", may_write=WriteScope(allow=("**",), deny=("frozen.py",)).refusal,
    )  # fmt: skip
