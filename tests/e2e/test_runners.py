"""A request becomes a branch in projects of every runner: RED, GREEN and DELIVER, measured by that runner."""

from __future__ import annotations

import json

import pytest

from tests.support.projects.foreign import PROJECTS, REQUEST

_SLOW = (
    "java",
    "cargo",
    "vitest",
)  # seconds for every build and every start; the real projects show these runners, too


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.chaos) if one in _SLOW else one for one in PROJECTS])
def project(request, world):
    """A project of each runner that this machine has."""
    chosen = PROJECTS[request.param]
    if chosen.missing:
        pytest.skip(chosen.missing)
    chosen.put(world)
    return request.param, chosen


def _facts(world, name):
    found = [record for record in world.events("FactsGathered") if record["data"].get("stage", name) == name]
    return found[-1]["data"]


def test_an_honest_change_is_delivered_by_the_projects_own_runner(world, project):
    runner, chosen = project
    done = world.start(chosen.script(), request=REQUEST, env=chosen.env)
    result = json.loads(done.out) if done.out.startswith("{") else {}
    assert (done.code, result.get("outcome")) == (0, "delivered"), (runner, done.out[-3000:], done.err[-2000:])
    suite = (
        world.view("artifacts/red/test_suite.yaml") if (world.folder / "artifacts/red/test_suite.yaml").exists() else {}
    )
    assert suite is not None
    assert chosen.new.strip().splitlines()[-1] in world.git("show", f"{result['branch']}:{chosen.product}")
