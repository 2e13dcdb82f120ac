"""Checkers that a project configures and that are not installed: the change is not blamed for it, and nobody says that they passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.world import edit, good_script, reply

if TYPE_CHECKING:
    from tests.support.world import World

FLAKE8 = "[flake8]\nmax-line-length = 100\n"


def test_a_checker_that_is_missing_at_the_base_too_is_told_and_hinders_nobody(world: World) -> None:
    (world.repo / "setup.cfg").write_text(FLAKE8)
    world.commit_all("configures flake8, which is not installed")
    done = world.start(good_script())
    assert done.json["outcome"] == "delivered", done.out
    limits = world.view("artifacts/phases/deliver/delivery_report.yaml")["limits"]
    assert any("flake8" in text for text in limits), limits
    conformance = world.view("artifacts/phases/refactor/deliverable.yaml")["conformance"]
    assert "flake8" not in conformance["checks"]


def test_the_agent_of_a_stage_asks_for_conformance_and_reads_what_was_found(world: World) -> None:
    good = good_script()["green"]
    careless = reply(edit("return text.lower()", "return text.lower()  # é\n    import os"), ("run_checks", {}))
    mended = reply(edit("return text.lower()  # é\n    import os", "return text.lower()"))
    done = world.start(good_script(green=[careless, mended, *good]))
    assert done.json["outcome"] == "delivered", done.out
    (asked,) = [row["data"] for row in world.events("ToolFinished") if row["data"]["name"] == "run_checks"]
    assert "F401" in asked["text"]
