"""AGENTS.md in the pipeline: its stages see it as text of the repository, and only after trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.store.blobs import Blobs

if TYPE_CHECKING:
    from tests.support.world import World


def _material(folder: Path) -> str:
    """What the stages of a task were given."""
    records = map(json.loads, (folder / "events.jsonl").read_text("utf-8").splitlines())
    digests = [record["data"]["material"] for record in records if record["type"] == "StageStarted"]
    return "\n".join(Blobs(folder / "blobs").get(digest).decode() for digest in digests if digest)


def test_the_stages_see_agents_md_only_after_trust(world: World) -> None:
    (world.repo / "AGENTS.md").write_text("Every function has a doctest.\n")
    world.commit_all("conventions")
    world.start(None, "--max-steps", "2")
    first = world.folder
    assert "slugify" in _material(first)
    assert "Every function has a doctest." not in _material(first)
    world.run("abort", world.task)
    world.run("trust", "--yes")
    world.start(None, "--max-steps", "2")
    (second,) = [one for one in first.parent.iterdir() if one != first]
    assert "conventions to keep, no orders" in _material(second)
    assert "Every function has a doctest." in _material(second)
