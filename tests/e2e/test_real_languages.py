"""Real projects in JavaScript, TypeScript, Go, Rust and Java: from a request to a verified branch, and cheats that get nowhere."""

from __future__ import annotations

import json

import pytest

from tests.support.projects.real import PROJECTS


def _laid(name, world):
    chosen = PROJECTS[name]
    if chosen.missing:
        pytest.skip(chosen.missing)
    chosen.put(world)
    return chosen


@pytest.mark.parametrize("name", PROJECTS)
def test_a_request_becomes_a_verified_branch_of_a_real_project(name, world):
    project = _laid(name, world)
    done = world.start(project.script(), request=project.request, env=project.env)
    result = json.loads(done.out) if done.out.startswith("{") else {}
    assert (done.code, result.get("outcome")) == (0, "delivered"), (done.out[-3000:], done.err[-2000:])
    changed = world.git("diff", "--name-only", f"main..{result['branch']}").splitlines()
    assert changed == sorted([project.product, project.test])
    (before,) = [one["data"]["facts"] for one in world.events("FactsGathered") if one["data"]["name"] == "baseline"]
    assert before["measured"] and before["passed"] and not before["failing"], "the project's own tests were measured"


_CHEATS = [pytest.param(name, cheat, id=f"{name}-{cheat}") for name, one in PROJECTS.items() for cheat in one.cheats]


@pytest.mark.parametrize(("name", "cheat"), _CHEATS)
def test_a_cheat_in_a_real_project_is_refused_and_leaves_no_branch(name, cheat, world):
    project = _laid(name, world)
    stage, _, rules = project.cheats[cheat]
    done = world.start(project.script(cheat), "--stage-attempts", "1", request=project.request, env=project.env)
    assert done.code != 0, done.out[-3000:]
    verdicts = [one["data"] for one in world.events("StageVerified") if not one["data"]["passed"]]
    refused = {row["rule"] for verdict in verdicts for row in verdict["results"] if not row["passed"]}
    denied = {"write-scope" for one in world.events("ToolFinished") if one["data"]["status"] == "denied"}
    assert (refused | denied) & rules, (stage, refused, done.out[-2500:], done.err[-1500:])
    assert world.git("branch", "--list", "agentforge/*") == ""
