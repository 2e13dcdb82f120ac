"""What waits for a human, and what stands in its way, while git goes on around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.world import World


def test_a_delivery_that_waits_survives_that_git_tidies_up(world: World) -> None:
    assert world.start(None, "--approve", "deliver").code == 3
    world.git("reflog", "expire", "--expire=now", "--all")
    world.git("gc", "--quiet", "--prune=now")
    done = world.run("resolve", "E1", "--approve", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert world.git("for-each-ref", "refs/agentforge/waiting") == ""
    assert world.run("verify", world.task).code == 0


def test_a_branch_in_the_way_of_all_tasks_is_said_before_anything_is_paid(world: World) -> None:
    world.git("branch", "agentforge")
    done = world.start(None)
    assert (done.code, done.json["error"]["slug"]) == (8, "conflict"), done.out + done.err
    assert not list(world.repo.glob(".agentforge/tasks/*/events.jsonl"))


def test_a_task_gets_a_name_whose_branch_is_free(world: World) -> None:
    assert world.start(None, "--approve", "deliver").code == 3
    name = world.task
    world.git("branch", f"agentforge/{name}-2")
    done = world.start(None)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert done.json["task_id"] not in (name, f"{name}-2")
