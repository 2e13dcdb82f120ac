"""One real run, delivered and signed, whose files every test of the proof looks at; nobody writes to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentforge.proof.files import FolderFiles
from tests.support import world as world_module


@dataclass(frozen=True)
class Golden:
    """A delivered run: its world, its files as they were written, and its bundle."""

    world: Any
    files: dict[str, bytes]
    bundle: Path
    public_key: Path


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> Golden:
    """A run with a refused draft, a failed edit and a signature."""
    place = tmp_path_factory.mktemp("proof").resolve()
    world = world_module.make_world(place / "repo", place / "home", pycache=pycache)
    assert world.run("keys", "init").code == 0
    script = world_module.good_script(
        intake=[
            world_module.reply(world_module.submit({"goal": "x"})),
            world_module.reply(world_module.submit(world_module.intake())),
        ],
        green=[
            world_module.reply(("edit", {"path": "textkit.py", "old_string": "not there", "new_string": ""})),
            world_module.reply(world_module.ADD_SLUGIFY, world_module.IMPLEMENTED),
        ],
    )
    done = world.start(script)
    assert done.code == 0, done.err
    public, bundle = place / "ann.pub", place / "run.afbundle"
    public.write_text(world.run("keys", "show").out)
    assert world.run("bundle", world.task, "-o", str(bundle)).code == 0
    return Golden(world=world, files=dict(FolderFiles(world.folder)), bundle=bundle, public_key=public)
