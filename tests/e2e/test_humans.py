"""A human is asked, answers, and the task goes on: questions, approvals, rejections, the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.world import (
    SLUGIFY_SUITE,
    TEST_SLUGIFY,
    children_below,
    good_script,
    intake,
    reply,
    specification,
    submit,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import Script, World

QUESTION = "What joins the words?"


def _ambiguous() -> Script:
    open_question = {"area": "separator", "question": QUESTION, "impact": "blocking", "default": "a hyphen"}
    asked = {"question": QUESTION, "impact": "blocking", "source": "human_escalation", "answer": "unknown"}
    return good_script(
        intake=[reply(submit(intake(identified_ambiguities=[open_question])))],
        clarify=[reply(submit({"questions": [asked]}))],
    )


def test_an_ambiguous_request_escalates_and_goes_on_with_the_answer(world: World) -> None:
    done = world.start(_ambiguous())
    assert (done.code, done.json["outcome"], done.json["branch"]) == (3, "escalated", None), done.out
    (asked,) = done.json["escalations"]
    assert set(asked) >= {"id", "stage", "reason", "question", "status"}
    assert (asked["id"], asked["stage"], asked["question"], asked["status"]) == ("E1", "clarify", QUESTION, "pending")
    assert (world.folder / "escalations").is_dir()
    (listed,) = world.run("escalations", "list", "--json").json
    assert listed["address"] == f"{world.task}.E1"
    assert QUESTION in world.run("escalations", "show", "E1").out
    assert world.run("status", world.task, "--json").json["outcome"] == "escalated"
    assert world.run("resume", world.task).code == 3
    assert world.run("resolve", "E1", "--answer", "a hyphen, always").code == 0
    assert world.run("escalations", "list", "--json").json == []
    resumed = world.run("resume", world.task, "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err
    (answer,) = world.view("artifacts/phases/clarify/clarification.yaml")["questions"]
    assert (answer["source"], answer["answer"]) == ("human_escalation", "a hyphen, always")
    assert answer["resolved_by"] == "ann"
    (row,) = resumed.json["escalations"]
    assert (row["status"], row["answer"]) == ("resolved", "a hyphen, always")


def test_blocking_questions_come_together_and_the_task_goes_on_when_all_are_answered(world: World) -> None:
    words = (QUESTION, "What becomes of digits?")
    open_ones = [{"area": "a", "question": text, "impact": "blocking", "default": "as usual"} for text in words]
    asked = [
        {"question": text, "impact": "blocking", "source": "human_escalation", "answer": "unknown"} for text in words
    ]
    script = good_script(
        intake=[reply(submit(intake(identified_ambiguities=open_ones)))], clarify=[reply(submit({"questions": asked}))]
    )
    done = world.start(script)
    assert [(row["id"], row["question"]) for row in done.json["escalations"]] == [("E1", words[0]), ("E2", words[1])]
    assert world.run("resolve", "E1", "--answer", "a hyphen", "--resume").code == 3
    last = world.run("resolve", "E2", "--answer", "they stay", "--resume", "--json")
    assert last.json["outcome"] == "delivered", last.out + last.err
    rows = world.view("artifacts/phases/clarify/clarification.yaml")["questions"]
    assert [row["answer"] for row in rows] == ["a hyphen", "they stay"]


def test_an_approved_specification_goes_on(world: World) -> None:
    done = world.start(None, "--approve", "spec")
    assert done.code == 3
    (asked,) = done.json["escalations"]
    assert (asked["stage"], asked["kind"]) == ("spec", "approval")
    resumed = world.run("resolve", "E1", "--approve", "--resume", "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out


def test_the_reason_of_a_rejection_goes_back_into_the_stage(world: World) -> None:
    slugify = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    first = reply(submit(specification(criteria[:1], slugify)))
    script = good_script(spec=[first, reply(submit(specification(criteria, slugify)))])
    assert world.start(script, "--approve", "design").code == 3
    again = world.run("resolve", "E1", "--reject", "say what nothing gives", "--resume", "--json")
    assert (again.code, again.json["outcome"]) == (3, "escalated"), again.out
    stage = next(row for row in again.json["stages"] if row["name"] == "spec")
    assert stage["attempts"] == 2
    step = again.json["steps"] + 1  # CLARIFY's step asked no model
    sent = world.run("inspect", world.task, "--step", str(step), "--show", "context", "--json")
    assert "say what nothing gives" in json.dumps(sent.json)
    delivered = world.run("resolve", "E2", "--approve", "--resume", "--json")
    assert (delivered.code, delivered.json["outcome"]) == (0, "delivered"), delivered.out


def test_supervised_asks_after_every_stage(world: World) -> None:
    done = world.start(None, "--supervised")
    asked = []
    while done.code == 3:
        (waiting,) = [row for row in done.json["escalations"] if row["status"] == "pending"]
        asked.append(waiting["stage"])
        assert len(asked) <= 8, done.out
        assert done.json["branch"] is None
        done = world.run("resolve", waiting["id"], "--approve", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert asked == ["intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"]


def test_a_rejected_delivery_goes_back_to_refactoring(world: World) -> None:
    script = good_script(refactor=[reply(submit({"changes": []}))])
    assert world.start(script, "--approve", "deliver").code == 3
    again = world.run("resolve", "E1", "--reject", "the docstring lies", "--resume", "--json")
    assert again.code == 3, again.out + again.err
    stages = {row["name"]: row for row in again.json["stages"]}
    assert stages["refactor"]["steps"] == 1
    assert world.run("resolve", "E2", "--approve", "--resume", "--json").json["outcome"] == "delivered"


def test_an_aborted_task_leaves_its_record_and_nothing_else(world: World) -> None:
    before = world.git("for-each-ref")
    assert world.start(_ambiguous()).code == 3
    done = world.run("abort", world.task, "--reason", "changed my mind", "--json")
    assert (done.code, done.json["outcome"]) == (0, "aborted")
    assert world.git("for-each-ref") == before
    assert world.git("worktree", "list").count("\n") == 0
    assert world.run("resolve", "E1", "--answer", "late").code != 0
    assert world.view("state.yaml")["status"] == "aborted"
    assert children_below(world.repo) == []


def test_a_question_can_end_the_task(world: World) -> None:
    assert world.start(_ambiguous()).code == 3
    done = world.run("resolve", "E1", "--abort", "--resume", "--json")
    assert done.json["outcome"] == "aborted", done.out


def test_the_model_can_ask_and_reads_the_answer(world: World) -> None:
    question = ("ask_human", {"question": "May it import re?", "options": ["yes", "no"]})
    spec = good_script()["spec"]
    assert world.start(good_script(spec=[reply(question), *spec])).code == 3
    done = world.run("resolve", "E1", "--answer", "no, never", "--resume", "--json")
    assert done.json["outcome"] == "delivered", done.out
    sent = world.run("inspect", world.task, "--step", "5", "--show", "context", "--json")
    assert "no, never" in json.dumps(sent.json)


def test_interactive_asks_before_a_step_changes_anything(world: World) -> None:
    script = good_script(red=[reply(write("tests/test_slugify.py", TEST_SLUGIFY)), reply(submit(SLUGIFY_SUITE))])
    done = world.start(script, "--interactive")
    while done.code == 3 and done.json["stage"] != "red":
        (waiting,) = [row for row in done.json["escalations"] if row["status"] == "pending"]
        done = world.run("resolve", waiting["id"], "--approve", "--resume", "--json")
    (waiting,) = [row for row in done.json["escalations"] if row["status"] == "pending"]
    assert (waiting["kind"], waiting["stage"]) == ("approval", "red")
    assert "write_file" in waiting["question"]
    assert not [row for row in world.events("ToolStarted") if row["data"]["name"] == "write_file"]
    refused = world.run("resolve", waiting["id"], "--reject", "not there", "--resume", "--json")
    finished = [row["data"] for row in world.events("ToolFinished") if row["data"]["name"] == "write_file"]
    assert [(row["status"], row["error_type"]) for row in finished] == [("denied", "human-refused")]
    assert refused.json["branch"] is None
