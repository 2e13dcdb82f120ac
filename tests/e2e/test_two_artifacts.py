"""One reply serves several stages: each artifact is verified when its stage begins, and the calls between are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentforge.pipeline.model.prompt_text import prompt_text
from tests.support.world import (
    ADD_SLUGIFY,
    IMPLEMENTED,
    REQUEST,
    SLUGIFY_SUITE,
    TEST_SLUGIFY,
    analysis,
    edit,
    good_script,
    intake,
    own_settings,
    reply,
    specification,
    submit,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import World

_SYMBOL = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
_CRITERIA = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]


def _both(spec: dict[str, Any]) -> dict[str, Any]:
    return reply(("submit_artifact", {"artifact": analysis(), "spec": spec}))


def test_a_specification_that_came_with_the_analysis_is_verified_without_another_call(world: World) -> None:
    script = good_script(analyze=[_both(specification(_CRITERIA, _SYMBOL))], spec=[])

    done = world.start(script)

    assert done.code == 0, done.err
    assert done.json["outcome"] == "delivered"
    assert [record["data"]["stage"] for record in world.events("ModelCalled")] == ["intake", "analyze", "red", "green"]
    handed_in = {record["data"]["stage"]: record["data"] for record in world.events("ArtifactSubmitted")}
    assert handed_in["spec"]["by"] == "model"
    assert handed_in["analyze"]["ahead"]["spec"] == handed_in["spec"]["draft"]
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task).code == 0


def test_one_that_is_refused_goes_to_its_own_stage_with_the_findings(world: World) -> None:
    wrong = specification(_CRITERIA, _SYMBOL, requirements=[])
    script = good_script(analyze=[_both(wrong)])

    done = world.start(script)

    assert done.code == 0, done.err
    called = [record["data"]["stage"] for record in world.events("ModelCalled")]
    assert called == ["intake", "analyze", "spec", "red", "green"]


def test_the_second_artifact_waits_where_a_human_approves_the_first(world: World) -> None:
    script = good_script(analyze=[_both(specification(_CRITERIA, _SYMBOL)), reply(submit(analysis()))])

    done = world.start(script, "--approve", "analyze")

    assert done.code == 3, done.err
    submitted = [record["data"] for record in world.events("ArtifactSubmitted") if record["data"]["stage"] == "analyze"]
    assert [item["ahead"] for item in submitted] == [{}]  # the tool does not take a second artifact there


def _record(*more: tuple[str, dict[str, Any]], **changed: Any) -> dict[str, Any]:
    return reply(("submit_artifact", {"artifact": intake(**changed)}), *more)


def test_one_reply_holds_the_record_the_analysis_and_the_specification(world: World) -> None:
    spec = specification(_CRITERIA, _SYMBOL)
    three = {"artifact": intake(), "analyze": analysis(), "spec": spec}
    done = world.start(good_script(intake=[reply(("submit_artifact", three))], analyze=[], spec=[]))
    assert done.json["outcome"] == "delivered", done.err
    assert [record["data"]["stage"] for record in world.events("ModelCalled")] == ["intake", "red", "green"]
    assert {row["data"]["stage"] for row in world.events("StagePassed")} >= {"intake", "clarify", "analyze", "spec"}
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task).code == 0


def test_what_is_handed_in_beside_an_open_question_waits_for_its_answer(world: World) -> None:
    open_question = {
        "area": "edges",
        "question": "What of dots?",
        "impact": "significant",
        "default": "they are dropped",
    }
    three = {"artifact": intake(identified_ambiguities=[open_question]), "analyze": analysis()}
    answer = {"question": "What of dots?", "source": "assumption", "answer": "they are dropped", "confidence": 0.5}
    clarified = [reply(submit({"questions": [answer]}))]
    done = world.start(good_script(intake=[reply(("submit_artifact", three))], clarify=clarified))
    assert done.json["outcome"] == "delivered", done.err
    called = [record["data"]["stage"] for record in world.events("ModelCalled")]
    assert called == ["intake", "clarify", "analyze", "spec", "red", "green"]


def test_what_is_read_beside_the_record_stands_in_the_first_context_of_the_analysis(world: World) -> None:
    shout = ("grep", {"pattern": "def shout", "path": "."})
    read = ("read_file", {"path": "textkit.py"})
    done = world.start(good_script(intake=[_record(shout, read)]))
    assert done.json["outcome"] == "delivered", done.err
    (step,) = [row["data"]["step"] for row in world.events("ModelCalled") if row["data"]["stage"] == "analyze"]
    shown = world.run("inspect", world.task, "--step", str(step), "--show", "context").out
    assert "grep (step 1)" in shown
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task).code == 0


def test_a_run_in_which_another_model_does_a_stage_goes_ahead_as_far_as_the_first_one_and_replays(world: World) -> None:
    script = good_script()
    world.model({"spec": script.pop("spec")})
    other = world.home / "other.yaml"
    (world.home / "script.yaml").rename(other)
    both = {"artifact": intake(), "analyze": analysis()}
    first = world.model({**script, "intake": [reply(("submit_artifact", both))], "analyze": []})
    models = f'[model]\nprovider = "scripted"\nname = "{first.removeprefix("scripted/")}"\n'
    own_settings(world.home, f'{models}[stages.spec]\nmodel = "scripted/{other}"\n')
    done = world.run("start", REQUEST, "--json")
    assert done.json["outcome"] == "delivered", done.json["error"]
    asked = {record["data"]["stage"]: record["data"]["model"] for record in world.events("ModelCalled")}
    assert list(asked) == ["intake", "spec", "red", "green"] and asked["spec"].endswith("other.yaml")
    (sent,) = [row["data"]["ahead"] for row in world.events("ArtifactSubmitted") if row["data"]["stage"] == "intake"]
    assert list(sent) == ["analyze"]
    assert world.run("replay", world.task).code == 0


_TESTS = write("tests/test_slugify.py", TEST_SLUGIFY), submit(SLUGIFY_SUITE)


def test_code_that_stands_behind_the_tests_is_applied_once_they_are_frozen(world: World) -> None:
    done = world.start(good_script(red=[reply(*_TESTS, ADD_SLUGIFY, IMPLEMENTED)], green=[]))

    assert done.json["outcome"] == "delivered", done.err
    assert [row["data"]["stage"] for row in world.events("ModelCalled")] == ["intake", "analyze", "spec", "red"]
    (step,) = [row["data"]["step"] for row in world.events("ModelCalled") if row["data"]["stage"] == "red"]
    assert (
        prompt_text("red_ahead").strip()
        in world.run("inspect", world.task, "--step", str(step), "--show", "context").out
    )
    (kept,), (taken,) = world.events("CallsKept"), world.events("CallsTaken")
    (frozen,) = [row for row in world.events("StagePassed") if row["data"]["stage"] == "red"]
    assert kept["seq"] < frozen["seq"] < taken["seq"]
    written = [row for row in world.events("ToolStarted") if "textkit.py" in row["data"]["touches"]]
    assert written and all(row["seq"] > taken["seq"] for row in written)
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task).code == 0


def test_tests_that_are_refused_are_asked_again_and_the_code_waits_for_them(world: World) -> None:
    passes = write("tests/test_slugify.py", "def test_slugify_lowers_and_hyphenates():\n    assert True\n")
    again = reply(*_TESTS)
    script = good_script(red=[reply(passes, submit(SLUGIFY_SUITE), ADD_SLUGIFY, IMPLEMENTED), again], green=[])

    done = world.start(script)

    assert done.json["outcome"] == "delivered", done.err
    steps = [row["data"] for row in world.events("ModelCalled")]
    assert [one["stage"] for one in steps] == ["intake", "analyze", "spec", "red", "red"]
    shown = world.run("inspect", world.task, "--step", str(steps[-1]["step"]), "--show", "context").out
    assert "2 of your calls wait for GREEN" in shown
    assert world.run("replay", world.task).code == 0


def test_code_that_does_not_fit_is_asked_for_in_the_stage_that_it_was_for(world: World) -> None:
    wrong = edit("    return text.upper_case()\n", "    return text\n")

    done = world.start(good_script(red=[reply(*_TESTS, wrong, IMPLEMENTED)]))

    assert done.json["outcome"] == "delivered", done.err
    assert [row["data"]["stage"] for row in world.events("ModelCalled")][-2:] == ["red", "green"]
    assert world.run("replay", world.task).code == 0


def test_code_without_a_submission_of_its_own_waits_too_and_is_submitted_in_its_stage(world: World) -> None:
    done = world.start(good_script(red=[reply(*_TESTS, ADD_SLUGIFY)], green=[reply(IMPLEMENTED)]))

    assert done.json["outcome"] == "delivered", done.err
    assert [row["data"]["stage"] for row in world.events("ModelCalled")][-2:] == ["red", "green"]
    assert not [row for row in world.events("ToolFinished") if row["data"]["status"] != "success"]
    assert world.run("replay", world.task).code == 0


def test_code_that_breaks_the_frozen_tests_is_refused_there(world: World) -> None:
    tampers = write("tests/test_slugify.py", "def test_slugify_lowers_and_hyphenates():\n    pass\n")

    script = good_script(red=[reply(*_TESTS, tampers, ADD_SLUGIFY, IMPLEMENTED)], green=[reply(IMPLEMENTED)])
    done = world.start(script)

    assert done.json["outcome"] == "delivered", done.err
    (refused,) = [row["data"] for row in world.events("ToolFinished") if row["data"]["error_type"] == "out-of-scope"]
    assert refused["name"] == "write_file"
    assert [row["data"]["stage"] for row in world.events("ModelCalled")][-2:] == ["red", "green"]


def test_code_is_not_asked_for_with_the_tests_where_a_human_approves_them(world: World) -> None:
    done = world.start(good_script(), "--approve", "red")

    assert done.code == 3, done.err
    (step,) = [row["data"]["step"] for row in world.events("ModelCalled") if row["data"]["stage"] == "red"]
    assert (
        prompt_text("red_ahead").strip()
        not in world.run("inspect", world.task, "--step", str(step), "--show", "context").out
    )
