"""The loop's effects: what is recorded, in which order, and what a dead process leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agentforge.agent.decide import CallModel, FinishStep, RunTool, decide_turn
from agentforge.errors import ModelError, ModelUnavailable
from agentforge.events import kinds

Build = Callable[..., Any]
WRITE = ("write_file", {"path": "b.py", "content": "y = 2\n"})
SUBMIT = ("submit_artifact", {"artifact": {"changes": []}})


def names(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_a_step_records_every_intent_before_its_effect_and_every_result_after_it(bench: Build) -> None:
    made = bench([WRITE])
    performing = iter(made.performing(CallModel(step=1)))
    asked = next(performing)
    assert isinstance(asked, kinds.ModelCalled)
    assert json.loads(made.spec.blobs.get(asked.request))["messages"][0]["role"] == "system"
    made.log.append(asked)
    made.log.append(next(performing))
    performing = iter(made.performing(RunTool(index=0, in_doubt=False)))
    intent = next(performing)
    assert isinstance(intent, kinds.ToolStarted)
    assert (intent.touches, intent.effect, intent.arguments) == ({"b.py": ""}, "write", dict(WRITE[1]))
    assert not (made.root / "b.py").exists()
    done = next(performing)
    assert (made.root / "b.py").read_text() == "y = 2\n"
    assert isinstance(done, kinds.ToolFinished)
    assert list(done.changed) == ["b.py"] and len(done.changed["b.py"]) == 64


def test_a_whole_step_in_order_with_its_sums_and_its_patch(bench: Build) -> None:
    made = bench([("read_file", {"path": "a.py"}), WRITE])
    assert names(made.step()) == [
        "ModelCalled", "ModelReplied", "ToolStarted", "ToolFinished", "ToolStarted", "ToolFinished", "StepFinished",
    ]  # fmt: skip
    end = made.log.last(kinds.StepFinished)
    assert (end.tree, made.spec.blobs.get(end.patch)) == ("t" * 40, b"the patch")
    assert end.summary.startswith("read_file: a.py lines 1-1 of 1; write_file:")
    assert (made.log.state.usage.totals.cost_usd, made.log.state.usage.totals.llm_calls) == (0.25, 1)
    assert made.log.state.progress.turn.recent[0].said == "I act."


def test_a_step_that_wrote_nothing_takes_no_snapshot(bench: Build) -> None:
    made = bench([("read_file", {"path": "a.py"})], "I think.")
    made.step()
    assert made.log.last(kinds.StepFinished).tree is None
    made.step()
    assert made.log.last(kinds.StepFinished).summary == "I think."


@pytest.mark.parametrize(
    ("call", "error_type"),
    [
        (("write_file", '{"path": "b.py", "content": '), "malformed-arguments"),
        (("write_file", '["b.py"]'), "malformed-arguments"),
        (("write_file", {"path": "b.py"}), "bad-arguments"),
        (("write_file", {"path": "b.py", "content": "x", "mode": "w"}), "bad-arguments"),
        (("writefile", {"path": "b.py", "content": "x"}), "unknown-tool"),
        (("write_file", {"path": "frozen.py", "content": "x"}), "out-of-scope"),
        (("write_file", {"path": "../b.py", "content": "x"}), "out-of-scope"),
    ],
)
def test_a_call_that_may_not_be_carried_out_is_answered_and_never_begun(
    bench: Build, call: Any, error_type: str
) -> None:
    made = bench([call])
    before = sorted(made.root.parent.rglob("*.py"))
    assert "ToolStarted" not in names(made.step())
    assert made.log.last(kinds.ToolFinished).error_type == error_type
    assert sorted(made.root.parent.rglob("*.py")) == before


def test_a_tool_that_was_not_offered_is_unknown_even_if_it_exists(bench: Build) -> None:
    made = bench([WRITE], tools=("read_file",))
    made.step()
    assert made.log.last(kinds.ToolFinished).error_type == "unknown-tool"
    assert not (made.root / "b.py").exists()


def test_a_broken_call_does_not_stop_the_calls_after_it(bench: Build) -> None:
    made = bench([("nonsense", {}), WRITE])
    made.step()
    assert [result.status for result in made.log.state.progress.turn.recent[0].results] == ["error", "success"]


def test_a_draft_is_recorded_before_its_call_is_done_so_that_no_crash_loses_it(bench: Build) -> None:
    made = bench([SUBMIT])
    assert names(made.step())[2:] == ["ToolStarted", "ArtifactSubmitted", "ToolFinished", "StepFinished"]
    assert made.log.state.review.submission.draft == {"changes": []}


def test_what_is_submitted_with_a_write_that_failed_is_not_handed_in(bench: Build) -> None:
    made = bench([("edit", {"path": "a.py", "old_string": "not there at all", "new_string": "x"}), SUBMIT])
    assert "ArtifactSubmitted" not in names(made.step())
    assert made.log.state.review.submission is None
    assert made.log.state.progress.turn.recent[0].results[1].summary.startswith("not submitted")


NOT_THERE = ("edit", {"path": "a.py", "old_string": "not there at all", "new_string": "x"})


def test_a_submission_that_was_kept_is_handed_in_with_the_fields_that_change(bench: Build) -> None:
    first = ("submit_artifact", {"artifact": {"one": 1, "two": 2}})
    made = bench([NOT_THERE, first], [WRITE, ("submit_artifact", {"artifact": {"two": 3}})])
    made.step()
    assert (made.log.state.review.held, made.log.state.review.rejected) == (True, {"one": 1, "two": 2})
    assert "edit" in made.log.last(kinds.ToolFinished).summary
    made.step()
    assert made.log.state.review.submission.draft == {"one": 1, "two": 3}
    assert made.log.state.review.held is False


def test_a_kept_submission_is_handed_in_unchanged_by_an_empty_one(bench: Build) -> None:
    made = bench([NOT_THERE, SUBMIT], [WRITE, ("submit_artifact", {"artifact": {}})])
    made.step()
    made.step()
    assert made.log.state.review.submission.draft == {"changes": []}


def test_a_submission_before_a_call_that_failed_is_taken_back_and_kept(bench: Build) -> None:
    made = bench([SUBMIT, NOT_THERE])
    made.step()
    assert (made.log.state.review.submission, made.log.state.review.rejected) == (None, {"changes": []})


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        (("shell", {"command": "sed -i s/1/2/ missing.py"}), True),
        (("shell", {"command": "python - <<'E'\nopen('a.py', 'w').write(1)\nE"}), True),
        (("shell", {"command": "python - <<'E'\nopen('b.py', 'w').write(1)\nE"}), False),
        (("shell", {"command": "python - <<'E'\nraise SystemExit(1)\nE"}), False),
        (("shell", {"command": f"python - <<'E'\nraise SystemExit('{'x' * 5000}')\nE"}), False),
        (("shell", {"command": "cat > /tmp/t.py <<'E'\nx\nE\npython /tmp/t.py"}), False),
        (("shell", {"command": "cat > b.py <<'E'\nx\nE\nexit 1"}), True),
        (("shell", {"command": "mkdir -p /tmp/w && cp a.py /tmp/w && cd /tmp/w && sed -i s/1/2/ a.py; exit 1"}), False),
        (("shell", {"command": "exit 1"}), False),
        (("shell", {"command": "grep nothing a.py"}), False),
        (("shell", {"cmd": "sed -i s/1/2/ a.py"}), True),
        (("write", {"path": "a.py"}), True),
        (("read_file", {"path": "missing.py"}), False),
    ],
)
def test_only_a_call_that_was_to_change_the_workspace_keeps_a_submission_back(
    bench: Build, call: tuple[str, object], kept: bool
) -> None:
    made = bench([call, SUBMIT])
    made.step()
    assert (made.log.state.review.submission is None) is kept


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("pytest", False),
        ("PATH=. python - <<'E'\nprint(1)\nE", False),
        ("PATH=. python /tmp/t.py", False),
        ("PATH=. python generate.py", True),
        ("PATH=. sed -i s/1/2/ a.py", True),
        ("npm install x", True),
    ],
)
def test_a_trial_that_is_refused_keeps_no_submission_back_and_what_may_write_does(
    bench: Build, command: str, kept: bool
) -> None:
    made = bench(
        [("shell", {"command": command}), SUBMIT],
        approve=lambda tool, _: "nobody is here" if tool.name == "shell" else None,
    )
    made.step()
    assert (made.log.state.review.submission is None) is kept


def test_where_a_stage_only_reads_a_refused_call_keeps_nothing_back(bench: Build) -> None:
    made = bench(
        [("write_file", {"path": "b.py"}), ("shell", {"cmd": "ls"}), SUBMIT], tools=("shell", "submit_artifact")
    )
    made.step()
    assert made.log.state.review.submission is not None


def test_a_submission_in_doubt_is_handed_in_once(bench: Build) -> None:
    made = bench([SUBMIT])
    made.die_after(kinds.ArtifactSubmitted)
    assert decide_turn(made.log.state) == RunTool(index=0, in_doubt=True)
    assert names(made.do(RunTool(index=0, in_doubt=True))) == ["ToolFinished"]


def test_a_question_waits_for_a_human_and_is_asked_once_whatever_the_process_does(bench: Build) -> None:
    made = bench([("ask_human", {"question": "Which?", "options": ["a", "b"]})])
    made.die_after(kinds.EscalationRaised)
    item = made.log.state.people.open_escalations[0]
    assert (item.question, item.options, item.context["step"], item.kind) == ("Which?", ("a", "b"), 1, "question")
    made.log.append(kinds.EscalationResolved(escalation_id="E1", decision="answer", text="a"))
    assert names(made.do(decide_turn(made.log.state))) == ["ToolFinished"]
    assert made.log.state.people.answers == ("Which? -> a",)


def test_two_questions_of_one_reply_are_two_questions(bench: Build) -> None:
    made = bench([("ask_human", {"question": "One?"}), ("ask_human", {"question": "Two?"})])
    made.step()
    made.log.append(kinds.EscalationResolved(escalation_id="E1", decision="answer", text="1"))
    made.step()
    assert [item.question for item in made.log.state.people.escalations.values()] == ["One?", "Two?"]


def test_a_write_in_doubt_that_did_not_happen_is_carried_out(bench: Build) -> None:
    made = bench([WRITE])
    made.die_after(kinds.ToolStarted)
    assert names(made.do(decide_turn(made.log.state))) == ["ToolFinished"]
    assert (made.root / "b.py").read_text() == "y = 2\n"


def test_a_write_in_doubt_that_did_happen_is_taken_back_and_not_carried_out_twice(bench: Build) -> None:
    made = bench([("append_file", {"path": "a.py", "content": "y = 2\n"})])
    made.die_after(kinds.ToolStarted)
    (made.root / "a.py").write_text("x = 1\ny = 2\n")
    made.do(decide_turn(made.log.state))
    assert (made.root / "a.py").read_text() == "x = 1\ny = 2\n"
    done = made.log.last(kinds.ToolFinished)
    assert (done.status, list(done.changed)) == ("success", ["a.py"])


def test_a_write_in_doubt_of_which_a_part_happened_is_taken_back_and_carried_out(bench: Build) -> None:
    patch = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+z\n"
    made = bench([("apply_patch", {"patch": patch.format("one.py") + patch.format("two.py")})])
    made.die_after(kinds.ToolStarted)
    (made.root / "one.py").write_text("half")
    made.do(decide_turn(made.log.state))
    done = made.log.last(kinds.ToolFinished)
    assert (done.status, sorted(done.changed)) == ("success", ["one.py", "two.py"])
    assert [(made.root / name).read_text() for name in ("one.py", "two.py")] == ["z\n", "z\n"]


def test_a_command_in_doubt_is_run_again(bench: Build) -> None:
    made = bench([("shell", {"command": "echo hi"})])
    made.die_after(kinds.ToolStarted)
    made.do(decide_turn(made.log.state))
    assert "hi" in made.log.last(kinds.ToolFinished).text


def test_an_effect_outside_the_workspace_in_doubt_is_never_repeated(bench: Build) -> None:
    from dataclasses import replace

    made = bench([WRITE])
    tool = replace(made.spec.tools["write_file"], effect="network", writes=lambda _arguments: ())
    made.spec = replace(made.spec, tools={"write_file": tool})
    made.die_after(kinds.ToolStarted)
    made.do(decide_turn(made.log.state))
    assert made.log.last(kinds.ToolFinished).error_type == "in-doubt"
    assert not (made.root / "b.py").exists()


def test_a_model_call_in_doubt_is_the_same_step_again(bench: Build) -> None:
    made = bench([WRITE])
    made.die_after(kinds.ModelCalled)
    assert decide_turn(made.log.state) == CallModel(step=1)
    made.step()
    assert (made.log.state.usage.totals.steps, made.log.state.progress.stages["green"].steps) == (1, 1)


def test_a_model_that_fails_is_recorded_and_raised_and_the_next_request_is_a_new_step(bench: Build) -> None:
    made = bench({"error": {"status": 503, "message": "overloaded"}}, [WRITE])
    with pytest.raises(ModelUnavailable):
        made.do(CallModel(step=1))
    failed = made.log.last(kinds.ModelFailed)
    assert (failed.slug, failed.step) == ("model-unavailable", 1)
    assert decide_turn(made.log.state) == CallModel(step=2)
    made.step()
    assert (made.root / "b.py").exists()


def test_a_key_that_the_provider_repeats_is_in_no_record_and_in_no_message(bench: Build) -> None:
    key = "sk-" + "proj-q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aE"
    made = bench({"error": {"status": 401, "message": f"Incorrect API key provided: {key}"}}, [WRITE])
    with pytest.raises(ModelError) as caught:
        made.do(CallModel(step=1))
    assert key not in made.log.last(kinds.ModelFailed).message + str(caught.value)
    assert "Incorrect API key" in str(caught.value)


def test_a_refused_step_answers_its_calls_and_carries_out_none(bench: Build) -> None:
    made = bench([WRITE, ("read_file", {"path": "a.py"})], mode="interactive")
    made.do(CallModel(step=1))
    made.log.append(
        kinds.EscalationRaised(
            escalation_id="E1", stage="green", kind="approval", reason="r", question="q", context={"step": 1}
        )
    )
    made.log.append(kinds.EscalationResolved(escalation_id="E1", decision="reject", text="not that file"))
    assert "ToolStarted" not in names(made.step())
    results = made.log.state.progress.turn.recent[0].results
    assert [(item.status, item.error_type) for item in results] == [("denied", "human-refused")] * 2
    assert "not that file" in results[0].text
    assert not (made.root / "b.py").exists()


def test_a_reply_that_only_holds_an_artifact_is_taken_as_its_submission(bench: Build) -> None:
    made = bench('Here it is:\n```json\n{"artifact": {"changes": []}}\n```')
    made.step()
    assert made.log.state.review.submission.draft == {"changes": []}


def test_prose_is_no_submission_where_nothing_can_be_submitted(bench: Build) -> None:
    made = bench('{"changes": []}', tools=("read_file",))
    made.step()
    assert (made.log.state.review.submission, made.log.state.progress.turn.silent_steps) == (None, 1)


def test_secrets_enter_no_record(bench: Build) -> None:
    secret = "hunter2-hunter2"
    made = bench(
        [("write_file", {"path": "b.py", "content": f"K = '{secret}'\n"}), ("read_file", {"path": "b.py"})],
        {"text": f"the key is {secret}", "thinking": secret},
        secrets=(secret,),
    )
    made.step()
    made.step()
    assert secret not in repr(made.log.events)


def test_a_long_output_is_cut_for_the_model_and_kept_whole(bench: Build) -> None:
    made = bench([("shell", {"command": "seq 1 20000"})], nonce="fence")
    made.step()
    done = made.log.last(kinds.ToolFinished)
    assert "omitted" in done.text and len(done.text) < 20_000
    assert made.spec.blobs.get(done.output).decode().count("\n") >= 20_000
    assert done.text.startswith("<untrusted fence>")


def test_a_short_output_is_not_kept_twice_because_of_its_fence(bench: Build) -> None:
    made = bench([("shell", {"command": "echo hi"})], nonce="fence")
    made.step()
    assert made.log.last(kinds.ToolFinished).output is None


def test_the_same_call_with_the_same_result_has_the_same_digest_and_a_new_result_another(bench: Build) -> None:
    made = bench(
        [("shell", {"command": "cat a.py"})], [("shell", {"command": "cat a.py"})], [("shell", {"command": "cat a.py"})]
    )
    made.step()
    made.step()
    (made.root / "a.py").write_text("other\n")
    made.step()
    first, second, third = made.log.state.progress.turn.loop
    assert first == second != third


def test_an_empty_step_is_finished_at_once(bench: Build) -> None:
    made = bench("only words")
    made.do(CallModel(step=1))
    assert decide_turn(made.log.state) == FinishStep(step=1)


EDIT = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}


def _with_seen(made: Any) -> Any:
    """The spec as the pipeline makes it for each effect: the tools know what the model saw."""
    from dataclasses import replace

    return replace(made.spec, tool_context=replace(made.spec.tool_context, seen=made.log.state.progress.turn.seen))


def test_a_file_that_somebody_else_changed_while_the_model_was_thinking_is_not_written_over(bench: Build) -> None:
    made = bench([("read_file", {"path": "a.py"})], [("edit", EDIT)])
    made.step()
    made.do(decide_turn(made.log.state))
    assert list(made.log.state.progress.turn.seen) == ["a.py"]
    made.spec = _with_seen(made)
    (made.root / "a.py").write_text("x = 1  # a person was here\n")
    made.do(decide_turn(made.log.state))
    assert made.log.last(kinds.ToolFinished).status == "error"
    assert (made.root / "a.py").read_text() == "x = 1  # a person was here\n"


def test_the_models_own_write_is_no_reason_to_refuse_its_next_one(bench: Build) -> None:
    first = ("edit", EDIT)
    second = ("edit", {"path": "a.py", "old_string": "x = 2", "new_string": "x = 3"})
    made = bench([("read_file", {"path": "a.py"})], [first, second])
    made.step()
    for _ in range(4):
        made.spec = _with_seen(made)
        made.do(decide_turn(made.log.state))
    assert (made.root / "a.py").read_text() == "x = 3\n"


def test_a_reply_with_half_a_character_is_recorded_without_it(bench: Build) -> None:
    made = bench([("read_file", {"path": "a.py"})])
    made.spec = replace(made.spec, read=lambda reply: replace(reply, text="a\ud800b \ud83d\ude00", thinking="\udc00"))
    made.step()
    said = made.log.last(kinds.ModelReplied)
    assert (said.text, said.thinking) == ("a\ufffdb \U0001f600", "\ufffd")


def test_a_write_to_what_cannot_be_kept_first_is_not_carried_out_and_ends_nothing(
    bench: Build, monkeypatch: Any
) -> None:
    made = bench([("write_file", {"path": "a.py", "content": "y\n"})])

    def unreadable(_path: Any) -> bytes:
        raise PermissionError(13, "Permission denied", "a.py")

    before = (made.root / "a.py").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.read_bytes", unreadable)
        made.step()
    assert made.log.last(kinds.ToolFinished).error_type == "os-error"
    assert (made.root / "a.py").read_bytes() == before


@pytest.mark.parametrize("raw", ['{"path": "b.py", "content": "half', "", "{}"])
def test_a_call_in_which_the_reply_was_cut_off_is_not_run(bench: Build, raw: str) -> None:
    made = bench([("read_file", {"path": "a.py"}), WRITE])
    made.log.append(next(made.performing(CallModel(step=1))))
    calls = (
        {"call_id": "1", "name": "read_file", "arguments": '{"path": "a.py"}'},
        {"call_id": "2", "name": "write_file", "arguments": raw},
    )
    made.log.append(replace(_replied(made), tool_calls=calls, finish="length"))
    for index in (0, 1):
        for event in made.performing(RunTool(index=index, in_doubt=False)):
            made.log.append(event)
    finished = [event for event in made.log.events if isinstance(event, kinds.ToolFinished)]
    assert [(one.status, one.error_type) for one in finished] == [("success", None), ("error", "cut-off")]
    assert not (made.root / "b.py").exists()


def _replied(made: Any) -> kinds.ModelReplied:
    performing = iter(made.performing(CallModel(step=1)))
    next(performing)
    replied = next(performing)
    assert isinstance(replied, kinds.ModelReplied)
    return replied
