"""Models and providers that misbehave: the task is kept, a human is asked, nothing is retried without end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.loopback.provider import Refuse, Say
from tests.support.world import REQUEST, TEST_SLUGIFY, analysis, good_script, intake, reply, submit, suite, write

if TYPE_CHECKING:
    from tests.support.loopback.provider import Asked, LoopbackProvider
    from tests.support.world import Done, Script, World


def _served(world: World, loopback: LoopbackProvider, *arguments: str) -> Done:
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "sk-none-of-your-business"}
    return world.run(*(arguments or ("start", REQUEST)), "--model", "custom/m", "--json", env=env)


def _question(*first: dict[str, Any]) -> Script:
    return good_script(
        intake=[*first, reply(submit(intake("analyze", examples=[])))],
        analyze=[reply(submit(analysis(findings=["it does"])))],
    )


def test_a_wrong_key_is_told_after_one_request(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Refuse(status=401, message="bad key", kind="authentication_error")
    done = _served(world, loopback)
    assert (done.code, done.json["outcome"], done.json["error"]["slug"]) == (5, "paused", "model-auth"), done.out
    assert len(loopback.asked) == 1
    assert "sk-none-of-your-business" not in (world.folder / "events.jsonl").read_text() + done.out + done.err


def test_a_task_goes_on_when_the_provider_does(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Refuse(status=400, message="not today")
    assert _served(world, loopback).code == 5
    drafts = iter([intake("analyze", examples=[]), analysis(findings=["it does"])])
    loopback.answer = lambda _asked: Say(calls=(("submit_artifact", json.dumps({"artifact": next(drafts)})),))
    done = _served(world, loopback, "resume", world.task)
    assert (done.code, done.json["outcome"]) == (0, "analyzed"), done.out
    assert (done.json["steps"], done.json["llm_calls"]) == (3, 2)  # a call that failed is a step of its own


def test_every_request_over_the_wire_has_two_messages(world: World, loopback: LoopbackProvider) -> None:
    drafts = iter([intake("analyze", examples=[]), analysis(findings=["it does"])])

    def answer(_asked: Asked) -> Say:
        return Say(calls=(("submit_artifact", json.dumps({"artifact": next(drafts)})),))

    loopback.answer = answer
    assert _served(world, loopback).json["outcome"] == "analyzed"
    assert [[row["role"] for row in asked.body["messages"]] for asked in loopback.asked] == [["system", "user"]] * 2


@pytest.mark.parametrize("text", ["I would be glad to help you with that!", ""])
def test_a_model_that_only_talks_ends_as_a_question(world: World, text: str) -> None:
    done = world.start({"intake": [reply(text=text)] * 10})
    assert (done.code, done.json["outcome"], done.json["stage"]) == (3, "escalated", "intake"), done.out
    (asked,) = done.json["escalations"]
    assert asked["kind"] == "stuck"
    assert done.json["steps"] == 4
    resumed = world.run("resolve", "E1", "--answer", "call submit_artifact", "--json")
    assert resumed.code in (0, 1, 3)
    world.model(good_script(intake=[reply(text=text)] * 4 + good_script()["intake"]))
    assert world.run("resume", world.task, "--json").json["outcome"] == "delivered"


def test_broken_arguments_are_answered_and_never_executed(world: World) -> None:
    broken = {"text": "", "tool_calls": [{"name": "submit_artifact", "raw": '{"artifact": {"goal": "x"'}]}
    done = world.start(_question(broken))
    assert done.json["outcome"] == "analyzed", done.out
    first = world.events("ToolFinished")[0]["data"]
    assert (first["status"], first["name"]) == ("error", "submit_artifact")
    assert not [row for row in world.events("ToolStarted", "ArtifactSubmitted") if row["data"].get("step") == 1]
    sent = world.run("inspect", world.task, "--step", "2", "--show", "context", "--json")
    assert first["summary"][:40] in json.dumps(sent.json, ensure_ascii=False)


def test_a_tool_that_was_not_offered_is_refused_by_name(world: World) -> None:
    unknown = reply(("launch_rocket", {"to": "mars"}), ("write_file", {"path": "textkit.py", "content": "x = 1\n"}))
    done = world.start(_question(unknown))
    assert done.json["outcome"] == "analyzed", done.out
    finished = [row["data"] for row in world.events("ToolFinished")][:2]
    assert [row["status"] for row in finished] != ["success", "success"]
    assert all(row["status"] in ("error", "denied") for row in finished)
    assert not [row for row in world.events("ToolStarted") if row["data"]["name"] in ("launch_rocket", "write_file")]


def test_a_plain_artifact_in_a_fence_is_taken_as_submitted(world: World) -> None:
    text = f"```json\n{json.dumps(intake('analyze', examples=[]))}\n```"
    script = _question()
    script["intake"] = [{"text": text}]
    assert world.start(script).json["outcome"] == "analyzed"


def test_an_artifact_that_breaks_its_contract_five_times_ends_as_a_question(world: World) -> None:
    broken = [reply(submit({"goal": f"levitate, try {number}"})) for number in range(9)]
    done = world.start({"intake": broken})
    assert (done.code, done.json["outcome"]) == (3, "escalated"), done.out
    (asked,) = done.json["escalations"]
    assert (asked["kind"], asked["stage"]) == ("stuck", "intake")
    assert (done.json["stages"][0]["attempts"], done.json["steps"]) == (5, 5)
    sent = world.run("inspect", world.task, "--step", "2", "--show", "context", "--json")
    assert "levitate" in json.dumps(sent.json)


def test_the_same_call_over_and_over_ends_as_a_question(world: World) -> None:
    script = good_script(analyze=[reply(("read_file", {"path": "textkit.py"}))] * 12)
    done = world.start(script)
    assert (done.code, done.json["stage"]) == (3, "analyze"), done.out
    assert done.json["steps"] <= 7
    assert "repeats" in done.json["escalations"][0]["reason"]


def test_vacuous_tests_are_refused_and_the_findings_come_back(world: World) -> None:
    vacuous = (
        "def test_slugify_lowers_and_hyphenates():\n    from textkit import slugify\n\n    slugify('Hello World')\n"
    )
    tests = suite("tests/test_slugify.py", ("test_slugify_lowers_and_hyphenates", "REQ-001.1,REQ-001.2", "target"))
    honest = good_script()["red"]
    script = good_script(red=[reply(write("tests/test_slugify.py", vacuous), submit(tests)), *honest])
    done = world.start(script)
    assert done.json["outcome"] == "delivered", done.out
    stage = next(row for row in done.json["stages"] if row["name"] == "red")
    assert stage["attempts"] == 2
    verdicts = [row["data"] for row in world.events("StageVerified") if row["data"]["stage"] == "red"]
    assert {row["rule"] for row in verdicts[0]["results"] if not row["passed"]} >= {"stubs-red"}
    assert world.git("show", f"{done.json['branch']}:tests/test_slugify.py") == TEST_SLUGIFY.strip()


def test_an_implementation_that_fails_the_tests_is_never_delivered(world: World) -> None:
    from tests.support.world import IMPLEMENTED, edit

    wrong = edit(
        "    return text.lower()\n",
        '    return text.lower()\n\n\ndef slugify(text: str) -> str:\n    """No."""\n    return text\n',
    )
    done = world.start(good_script(green=[reply(wrong, IMPLEMENTED)]), "--stage-attempts", "1")
    assert (done.code, done.json["branch"]) == (3, None), done.out
    assert world.git("for-each-ref", "refs/heads/agentforge") == ""
