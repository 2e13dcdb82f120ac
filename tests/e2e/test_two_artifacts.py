"""One reply of ANALYZE holds the specification, too: it is verified when its stage begins, and a call is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentforge_world import analysis, good_script, reply, specification, submit

if TYPE_CHECKING:
    from agentforge_world import World

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
