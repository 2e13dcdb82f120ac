"""The model's shell in a stage: it writes what the stage may write, and a crash in the middle leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from agentforge.agent.decide import CallModel, RunTool
from agentforge.agent.model_call import perform_call_model
from agentforge.agent.perform import perform_tool
from agentforge.agent.spec import AgentSpec
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.stage_agent import agent_spec
from agentforge.pipeline.model.runtime import Runtime
from agentforge.suite.detection import detect as detect_plan
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import detect
from tests.support.stage_states import inside

pytestmark = pytest.mark.skipif(detect(os.environ).kind == "none", reason="bubblewrap does not work here")

Begin = Callable[..., tuple[Runtime, AgentSpec, RunState]]


def folded(state: RunState, events: Iterable[Event]) -> RunState:
    for event in events:
        state = evolve(state, event, at="2026-01-01T00:00:00Z")
    return state


_BY_CODE = """
import os
os.mkdir("." + "agentforge")
with open("." + "agentforge/config.toml", "w") as file: file.write("x")
with open("." + "git/config", "w") as file: file.write("x")"""


@pytest.fixture
def begin(runtime: Callable[..., Runtime]) -> Begin:
    """A stage whose model asked for calls; nothing is carried out yet."""

    def make(stage: str, *calls: tuple[str, dict[str, Any]]) -> tuple[Runtime, AgentSpec, RunState]:
        made = runtime([{"tool_calls": [{"name": name, "args": args} for name, args in calls]}])
        commit = made.git.head()
        plan = detect_plan(made.repo, settings={}, environ=os.environ)
        object.__setattr__(made, "rig", lambda: SimpleNamespace(plan=plan))
        state = inside(stage, base_commit=commit, trees={"baseline": made.git.tree_of(commit)})
        spec = agent_spec(state, made, [])
        return made, spec, folded(state, perform_call_model(CallModel(step=1), state, spec))

    return make


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "shell", {"command": command}


def test_a_stage_that_writes_nothing_has_a_shell_that_cannot(begin: Begin) -> None:
    made, spec, state = begin("analyze", shell("echo x >> kit/text.py; echo x > kit/slug.py"))
    started, done = perform_tool(RunTool(index=0, in_doubt=False), state, spec)
    assert isinstance(started, kinds.ToolStarted) and isinstance(done, kinds.ToolFinished)
    assert "Read-only file system" in done.text
    assert (started.tree, done.changed) == ("", {})
    assert not (made.worktree / "kit/slug.py").exists()


def test_a_command_writes_the_files_of_the_specification_and_no_other(begin: Begin) -> None:
    made, spec, state = begin(
        "green", shell("sed -i s/80/81/ kit/text.py; echo x >> tests/test_text.py; rm kit/macro.xyz")
    )
    tree = made.guard.tree()
    started, done = perform_tool(RunTool(index=0, in_doubt=False), state, spec)
    assert isinstance(started, kinds.ToolStarted) and isinstance(done, kinds.ToolFinished)
    assert started.tree == tree
    assert list(done.changed) == ["kit/text.py"]
    assert (done.status, done.error_type) == ("error", "out-of-scope")
    assert "1 file changed; 2 files refused and put back" in done.summary
    assert "Changed: kit/text.py (changed +1 -1)" in done.text
    assert "kit/macro.xyz lies outside what this stage may write: kit/text.py, kit/slug.py" in done.text
    changed = made.git.changed(tree, made.git.snapshot(made.worktree, index=made.scratch / "other"))
    assert [change.path for change in changed] == ["kit/text.py"]


def test_git_and_the_trail_stay_shut(begin: Begin) -> None:
    made, spec, state = begin(
        "green",
        shell("echo x > .git/config; mkdir .agentforge; echo x > .agentforge/config.toml"),
        shell("python3 - <<'E'\n" + _BY_CODE + "\nE"),
    )
    *_, refused = perform_tool(RunTool(index=0, in_doubt=False), state, spec)
    assert isinstance(refused, kinds.ToolFinished)
    assert (refused.status, refused.error_type) == ("denied", "not-approved")
    *_, done = perform_tool(RunTool(index=1, in_doubt=False), folded(state, [refused]), spec)
    assert isinstance(done, kinds.ToolFinished)
    assert "Read-only file system" in done.text
    assert "Protected, put right after the command: .agentforge" in done.text
    assert not (made.worktree / ".agentforge").exists()


def test_a_line_that_cannot_be_read_runs_within_the_walls(begin: Begin) -> None:
    _, spec, state = begin(
        "green", shell("R=kit; [ -d $R ] && ls $R; echo x > .git/config"), shell("R=kit; [ -d $R ] && ls $R")
    )
    *_, refused = perform_tool(RunTool(index=0, in_doubt=False), state, spec)
    assert isinstance(refused, kinds.ToolFinished) and refused.status == "denied"
    *_, done = perform_tool(RunTool(index=1, in_doubt=False), folded(state, [refused]), spec)
    assert isinstance(done, kinds.ToolFinished)
    assert done.status == "success" and "text.py" in done.text


def test_a_command_in_doubt_finds_the_workspace_as_it_was(begin: Begin) -> None:
    made, spec, state = begin("green", shell("echo '# end' >> kit/text.py"))
    tree = made.guard.tree()
    started = next(iter(perform_tool(RunTool(index=0, in_doubt=False), state, spec)))
    state = folded(state, [started])
    text = (made.worktree / "kit/text.py").read_text()
    (made.worktree / "kit/text.py").write_text(text + "# end\n")  # the command ran, and its process died
    (made.worktree / "tests/test_text.py").unlink()
    (made.worktree / "left").mkdir()
    (made.worktree / "left/over").write_text("x\n")
    object.__setattr__(made, "guard", Guard(made.git, made.worktree, index=made.scratch / "index"))
    spec = agent_spec(state, made, [])
    (done,) = perform_tool(RunTool(index=0, in_doubt=True), state, spec)
    assert isinstance(done, kinds.ToolFinished) and list(done.changed) == ["kit/text.py"]
    assert (made.worktree / "kit/text.py").read_text() == text + "# end\n"
    now = made.git.snapshot(made.worktree, index=made.scratch / "other")
    assert [change.path for change in made.git.changed(tree, now)] == ["kit/text.py"]


def test_python_in_a_stage_imports_the_workspace_wherever_its_packages_were_installed_from(begin: Begin) -> None:
    read = "python -c \"import os; print(os.environ['PYTHONPATH'].split(':')[0])\""
    runtime, spec, state = begin("green", shell(read))
    *_, done = perform_tool(RunTool(index=0, in_doubt=False), state, spec)
    assert str(runtime.repo) in done.text
