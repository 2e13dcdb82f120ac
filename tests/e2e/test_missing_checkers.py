"""Checkers that a project configures and that are not installed: the change is not blamed for it, and nobody says that they passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge_world import good_script

if TYPE_CHECKING:
    from agentforge_world import World

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
