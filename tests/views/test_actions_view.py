from __future__ import annotations

from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.views.actions_view import fold_action

CALLED = kinds.ModelCalled(step=1, stage="green", attempt=1, model="m", request="in", context_tokens=5)
REPLIED = kinds.ModelReplied(
    step=1, text="t", tool_calls=(), finish="stop", usage={"prompt_tokens": 3, "completion_tokens": 2}, model="p/m"
)
FAILED = kinds.ModelFailed(step=1, slug="model-auth", message="401")
FINISHED = kinds.StepFinished(step=1, stage="green", summary="said something")
SUBMITTED = kinds.ArtifactSubmitted(stage="green", attempt=1, draft={}, by="model", step=1)
RAISED = kinds.EscalationRaised(escalation_id="E1", stage="green", kind="question", reason="r", question="q")
VERIFIED = kinds.StageVerified(
    stage="green",
    attempt=1,
    passed=True,
    contract="implementation",
    contract_digest="",
    artifact={},
    artifact_digest="out",
    results=(),
)


def tool(name: str, status: kinds.ToolStatus, index: int = 0) -> Event:
    return kinds.ToolFinished(
        step=1,
        index=index,
        call_id="c",
        name=name,
        status=status,
        summary="s",
        changed={"b": "", "a": ""} if name == "edit" else {},
    )


def entries(*events: Event) -> list[dict]:
    """The entries that a run of these events leaves."""
    draft, state, found = None, RunState(), []
    for second, event in enumerate(events):
        state = evolve(state, event, at=f"2025-12-31T10:00:{second:02d}.500000Z")
        draft, complete = fold_action(draft, event, state=state)
        found += complete
    return found


def test_a_step_is_written_when_it_is_finished():
    (entry,) = entries(CALLED, REPLIED, tool("grep", "success"), tool("edit", "denied", 1), FINISHED)
    assert entry == {
        "step": 1,
        "timestamp": "2025-12-31T10:00:00Z",
        "phase": "green",
        "attempt": 1,
        "by": "model",
        "context_tokens": 5,
        "action": {"type": "edit", "input_hash": "in"},
        "result": {"status": "denied", "output_artifact": None, "output_hash": None},
        "verification": {"passed": None, "contract": None},
        "llm_call": {"model": "p/m", "prompt_tokens": 3, "completion_tokens": 2, "cached_tokens": 0, "cost_usd": None},
        "summary": "said something",
        "tools": [
            {"name": "grep", "status": "success", "summary": "s"},
            {"name": "edit", "status": "denied", "summary": "s", "changed": ["a", "b"]},
        ],
    }


def test_a_step_that_submits_waits_for_the_verdict_in_whatever_order_things_are_recorded():
    for order in ((SUBMITTED, FINISHED, VERIFIED), (SUBMITTED, VERIFIED, FINISHED)):
        (entry,) = entries(CALLED, REPLIED, *order)
        assert entry["verification"] == {"passed": True, "contract": "implementation"}
        assert (
            entry["result"]["output_artifact"] == "artifacts/phases/green/implementation.yaml"
            and entry["result"]["output_hash"] == "out"
        )


def test_a_submission_by_a_tool_is_known_before_its_draft_is_recorded():
    started = kinds.ToolStarted(step=1, index=0, call_id="c", name="hand_in", arguments={}, effect="submit")
    (entry,) = entries(CALLED, REPLIED, started, tool("hand_in", "success"), FINISHED, SUBMITTED, VERIFIED)
    assert entry["verification"]["passed"] is True
    refused = entries(CALLED, REPLIED, started, tool("hand_in", "error"), FINISHED)
    assert [item["result"]["status"] for item in refused] == ["error"]


def test_a_call_that_is_made_again_leaves_one_entry_and_a_failed_one_its_own():
    assert len(entries(CALLED, CALLED, REPLIED, FINISHED)) == 1
    failed, good = entries(CALLED, FAILED, CALLED, REPLIED, FINISHED)
    assert (failed["result"]["status"], failed["summary"], failed["llm_call"]) == ("error", "model-auth: 401", None)
    assert good["result"]["status"] == "success"


def test_a_step_that_asks_a_human_goes_on_after_the_answer():
    resolved = kinds.EscalationResolved(escalation_id="E1", decision="answer", text="x")
    (entry,) = entries(CALLED, REPLIED, RAISED, resolved, tool("ask_human", "success"), FINISHED)
    assert entry["action"]["type"] == "ask_human"


def test_what_is_pending_at_the_end_is_written():
    ended = kinds.RunFinished(outcome="aborted")
    assert len(entries(CALLED, REPLIED, SUBMITTED, FINISHED, ended)) == 1
    assert len(entries(CALLED, FAILED, RAISED, ended)) == 1
    assert entries(CALLED, ended) == []


def test_a_stage_that_needs_no_model_is_an_entry_without_a_call():
    by_harness = kinds.ArtifactSubmitted(stage="clarify", attempt=1, draft={}, by="harness")
    (entry,) = entries(by_harness, VERIFIED)
    assert (entry["by"], entry["llm_call"], entry["action"]["type"], entry["step"]) == (
        "harness",
        None,
        "submit_artifact",
        0,
    )
