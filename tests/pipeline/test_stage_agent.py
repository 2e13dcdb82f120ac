"""What the loop gets for a stage: tools, scope, context and snapshot, on a real worktree with a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentforge.agent.model_call import perform_call_model
from agentforge.agent.perform import perform_tool
from agentforge.context.budget import TOTAL_LIMIT
from agentforge.context.sections import Piece, section_of
from agentforge.errors import ModelError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.attempt import Turn
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.controller import Performer
from agentforge.pipeline.engine.stage_agent import agent_spec, system_prompt
from agentforge.pipeline.model.effects import StartStage, SubmitDraft
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.stages import ORDER
from tests.support.run_states import with_fields
from tests.support.stage_states import before, inside

Make = Callable[..., Runtime]
MODEL_STAGES = ORDER[:-1]
PIECES = [Piece(name="specification", text="REQ-001: it lowers")]


def at(runtime: Runtime, stage: str, **changes: Any) -> RunState:
    head = runtime.git.head()
    trees = {"baseline": runtime.git.tree_of(head)}
    return inside(stage, base_commit=head, **{"trees": trees, **changes})


def evolved(state: RunState, *events: kinds.Event) -> RunState:
    for event in events:
        state = evolve(state, event, at="2026-01-01T00:00:00Z")
    return state


@pytest.mark.parametrize("stage", MODEL_STAGES)
def test_a_context_is_two_messages_within_the_budget_and_offers_the_tools_of_the_stage(
    runtime: Make, stage: str
) -> None:
    made = runtime()
    spec = agent_spec(at(made, stage), made, PIECES)
    context = spec.context(at(made, stage))
    assert [message.role for message in context.messages] == ["system", "user"]
    assert context.tokens <= TOTAL_LIMIT
    wanted = tuple(dict.fromkeys((*made.stages[stage].ahead_tools, *made.stages[stage].tools)))
    assert tuple(tool.name for tool in context.tools) == wanted == tuple(spec.tools)
    assert f"Stage {stage.upper()}" in context.messages[0].text
    assert f"phase: {stage}" in context.messages[1].text


def test_submitting_is_offered_in_the_shape_of_the_contract_without_the_harness_fields(runtime: Make) -> None:
    made = runtime()
    (submit,) = [
        tool
        for tool in agent_spec(at(made, "red"), made, []).context(at(made, "red")).tools
        if tool.name == "submit_artifact"
    ]
    artifact = submit.parameters["properties"]["artifact"]  # type: ignore[index]
    assert artifact["type"] == "object" and "required" not in artifact
    shape = artifact["description"]
    assert shape.startswith("{test_files?: {path: string, tests?: ")
    assert "files_modified?: {path?: string, changes_summary?: string}[]" in shape  # what GREEN submits, too
    assert "suite_id" not in shape and "lines_added" not in shape


def test_what_a_stage_alone_submits_is_required(runtime: Make) -> None:
    made = runtime()
    state = with_fields(at(made, "red"), approve=("red",))
    (submit,) = [tool for tool in agent_spec(state, made, []).context(state).tools if tool.name == "submit_artifact"]
    artifact = submit.parameters["properties"]["artifact"]  # type: ignore[index]
    assert list(artifact["properties"]) == ["test_files"] == artifact["required"]


def test_the_front_is_the_same_at_every_step_of_a_stage(runtime: Make) -> None:
    made = runtime()
    state = at(made, "green")
    spec = agent_spec(state, made, PIECES)
    (made.worktree / "kit" / "text.py").write_text("changed\n")
    later = at(
        made, "green", attempt=3, findings=({"rule": "x", "message": "m"},), answers=("a",), rejected={"a": 1},
        turn=Turn(step=900, silent_steps=2, views=(("kit/text.py", {"path": "kit/text.py"}),)),
    )  # fmt: skip
    first, second = spec.context(state), spec.context(later)
    assert first.messages[0] == second.messages[0]
    assert first.messages[1].parts[0] == second.messages[1].parts[0]
    assert "changed" in second.messages[1].parts[1].text


def test_a_step_after_a_thousand_costs_what_the_first_costs(runtime: Make) -> None:
    made = runtime()
    state = at(made, "green")
    spec = agent_spec(state, made, PIECES)
    sizes = []
    for number in range(1, 1001):
        state = evolved(state, *step_events(number))
        if number in (10, 1000):
            sizes.append(spec.context(state).tokens)
    assert abs(sizes[0] - sizes[1]) <= 12  # the digits of the step numbers


def step_events(number: int) -> list[kinds.Event]:
    call = {"call_id": "c", "name": "grep", "arguments": "{}"}
    return [
        kinds.ModelCalled(step=number, stage="green", attempt=1, model="m", request="r", context_tokens=9),
        kinds.ModelReplied(step=number, text="I look.", tool_calls=(call,), finish="stop", usage={}, model="m"),
        kinds.ToolFinished(
            step=number, index=0, call_id="c", name="grep", status="success", summary="3 hits", text="kit/text.py:1\n" * 30,
            result=str(number),
        ),
        kinds.StepFinished(step=number, stage="green", summary="3 hits"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stage", "path", "status"),
    [
        ("green", "kit/slug.py", "success"),
        ("green", "kit/other.py", "denied"),
        ("green", "tests/test_slug.py", "denied"),
        ("red", "tests/test_new.py", "success"),
        ("red", "kit/text.py", "denied"),
        ("refactor", "kit/text.py", "success"),
    ],
)
def test_the_write_scope_holds_at_dispatch(runtime: Make, stage: str, path: str, status: str) -> None:
    call = {"name": "write_file", "args": {"path": path, "content": "x = 1\n"}}
    made = runtime([{"tool_calls": [call]}])
    state = at(made, stage)
    spec = agent_spec(state, made, [])
    before_it = (made.worktree / path).read_bytes() if (made.worktree / path).exists() else None
    from agentforge.agent.decide import CallModel, RunTool

    state = evolved(state, *perform_call_model(CallModel(step=1), state, spec))
    *_, done = perform_tool(RunTool(index=0, in_doubt=False), state, spec)
    assert isinstance(done, kinds.ToolFinished)
    assert done.status == status
    after = (made.worktree / path).read_bytes() if (made.worktree / path).exists() else None
    assert (after != before_it) == (status == "success")


def test_a_looking_stage_has_no_tool_that_writes(runtime: Make) -> None:
    made = runtime()
    assert "write_file" not in agent_spec(at(made, "analyze"), made, []).tools


def test_the_snapshot_is_taken_when_something_changed_and_tells_what(runtime: Make) -> None:
    made = runtime()
    state = at(made, "green")
    spec = agent_spec(state, made, [])
    assert spec.snapshot(state) is None
    (made.worktree / "kit" / "slug.py").write_text("x = 1\n")
    taken = spec.snapshot(state)
    assert taken is not None and b"+x = 1" in taken[1]
    assert spec.snapshot(at(made, "green", trees={"work": taken[0]})) is None


def test_a_stage_that_writes_sees_its_own_changes_and_not_those_of_the_stage_before(runtime: Make) -> None:
    made = runtime()
    base = made.git.tree_of("HEAD")
    (made.worktree / "tests" / "test_new.py").write_text("TEST = 1\n")
    red = made.git.snapshot(made.worktree, index=made.scratch / "i")
    (made.worktree / "kit" / "slug.py").write_text("CODE = 1\n")
    green = made.git.snapshot(made.worktree, index=made.scratch / "i")
    state = at(made, "green", trees={"baseline": base, "red": red, "work": green})
    text = agent_spec(state, made, []).context(state).messages[1].text
    assert "+CODE = 1" in text and "+TEST = 1" not in text
    fresh = at(made, "green", trees={"baseline": base, "red": red, "work": red})
    assert "your changes so far" not in agent_spec(fresh, made, []).context(fresh).messages[1].text


def test_the_model_of_the_stage_is_asked_for_the_step_of_the_stage(runtime: Make) -> None:
    made = runtime([{"text": "one"}, {"error": {"status": 400, "message": "no"}}])
    from agentforge.agent.decide import CallModel

    state = at(made, "spec")
    spec = agent_spec(state, made, [])
    state = evolved(state, *perform_call_model(CallModel(step=1), state, spec))
    assert state.progress.turn.said == "one"
    with pytest.raises(ModelError):
        list(perform_call_model(CallModel(step=2), state, spec))


def test_every_stage_with_a_model_has_a_prompt_within_its_budget() -> None:
    from agentforge.context.budget import TOKEN_BUDGET
    from agentforge.tokens import count_tokens

    for stage in MODEL_STAGES:
        assert count_tokens(system_prompt(stage)) <= TOKEN_BUDGET["system_prompt"], stage
    assert count_tokens(system_prompt("analyze", ahead=("spec",))) <= TOKEN_BUDGET["system_prompt"]
    assert count_tokens(system_prompt("intake", ahead=("analyze", "spec"))) <= TOKEN_BUDGET["system_prompt"]


# -- the material of a stage


def start(made: Runtime, state: RunState, stage: str, attempt: int) -> tuple[RunState, list[Any]]:
    (event,) = Performer(made).perform(StartStage(stage=stage, attempt=attempt), state)
    assert isinstance(event, kinds.StageStarted)
    rows = json.loads(made.blobs.get(event.material)) if event.material else []
    return evolved(state, event), rows


def test_material_is_gathered_once_for_a_stage_and_kept_over_its_attempts(runtime: Make) -> None:
    made = runtime()
    head = made.git.head()
    state = before("green", base_commit=head, trees={"baseline": made.git.tree_of(head)})
    begun, rows = start(made, state, "green", 1)
    assert "REQ-001" in str(next(row["parts"] for row in rows if row.get("name") == "specification"))
    (made.worktree / "kit" / "text.py").write_text("changed\n")
    again, _ = start(made, begun, "green", 2)
    assert again.progress.turn.material == begun.progress.turn.material != ""


def test_a_stage_without_a_model_needs_no_material_until_it_gets_one(runtime: Make) -> None:
    made = runtime()
    state = before("refactor", base_commit=made.git.head())
    begun, rows = start(made, state, "refactor", 1)
    assert (begun.progress.turn.material, rows) == ("", [])
    finding = {"rule": "human", "passed": False, "message": "shorter"}
    refused = evolved(begun, kinds.ArtifactSubmitted(stage="refactor", attempt=1, draft={}, by="harness"))
    again, rows = start(made, with_fields(refused, findings=(finding,)), "refactor", 2)
    assert again.progress.turn.material and rows


@pytest.mark.parametrize("stage", MODEL_STAGES)
def test_the_material_of_every_stage_fits_its_context(runtime: Make, stage: str) -> None:
    made = runtime()
    state = before(stage, base_commit=made.git.head(), request="Add slugify to kit.text beside shout. " * 400)
    begun, rows = start(made, state, stage, 1)
    assert all("path" in row or row["text"].strip() or row.get("parts") for row in rows)
    pieces = [section_of(row) for row in rows]
    assert agent_spec(begun, made, pieces).context(begun).tokens <= TOTAL_LIMIT


def test_source_is_shown_before_the_documents_that_share_words_with_the_request(runtime: Make) -> None:
    made = runtime()
    (made.worktree / "kit" / "slugs.py").write_text("def slugify(text):\n    return text\n")
    (made.worktree / "kit" / "other.py").write_text("def other(text):\n    return text  # a slug\n")
    (made.worktree / "slugify-text-shout-slugs.md").write_text("slugify and shout slugs, slugify(text)\n" * 30)
    state = before("analyze", base_commit=made.git.head(), request="slugify(text) shall shout slugs")
    _, rows = start(made, state, "analyze", 1)
    wanted = {row["path"]: min(want[3] for want in row["wants"]) for row in rows if row.get("wants")}
    assert wanted["kit/other.py"] < wanted["slugify-text-shout-slugs.md"]


@pytest.mark.parametrize("faster", [True, False])
def test_a_specification_in_the_same_reply_is_told_of_measurements_where_less_time_is_asked_for(
    runtime: Make, faster: bool
) -> None:
    made = runtime()
    state = before("analyze", base_commit=made.git.head(), request="shout shall be faster")
    intent = {**state.work.artifacts["intake"].get("extracted_intent", {}), "performance": faster}
    artifacts = {**state.work.artifacts, "intake": {**state.work.artifacts["intake"], "extracted_intent": intent}}
    _, rows = start(made, with_fields(state, artifacts=artifacts), "analyze", 1)
    assert ("a measurement is wanted" in [row.get("name") for row in rows]) is faster


def test_a_draft_of_the_harness_says_whose_it_is(runtime: Make) -> None:
    made = runtime()
    (mine,) = Performer(made).perform(SubmitDraft(stage="clarify"), inside("clarify"))
    (given,) = Performer(made).perform(SubmitDraft(stage="red"), inside("red", tests=("tests/t.py",)))
    assert isinstance(mine, kinds.ArtifactSubmitted) and isinstance(given, kinds.ArtifactSubmitted)
    assert (mine.by, given.by) == ("harness", "user")
