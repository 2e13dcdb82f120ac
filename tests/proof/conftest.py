"""One real run, delivered and signed, whose files every test of the proof looks at; nobody writes to it."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentforge.proof.files import FolderFiles


def _load(name: str, path: Path) -> None:
    """Make a module of the tests importable under one name, once."""
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


_load("agentforge_world", Path(__file__).parents[1] / "e2e" / "world.py")
_load("tests_proof_forging", Path(__file__).with_name("forging.py"))


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
    module = sys.modules["agentforge_world"]
    place = tmp_path_factory.mktemp("proof").resolve()
    world = module.make_world(place / "repo", place / "home", pycache=pycache)
    assert world.run("keys", "init").code == 0
    script = module.good_script(
        intake=[module.reply(module.submit({"goal": "x"})), module.reply(module.submit(module.intake()))],
        green=[
            module.reply(("edit", {"path": "textkit.py", "old_string": "not there", "new_string": ""})),
            module.reply(module.ADD_SLUGIFY, module.IMPLEMENTED),
        ],
    )
    done = world.start(script)
    assert done.code == 0, done.err
    public, bundle = place / "ann.pub", place / "run.afbundle"
    public.write_text(world.run("keys", "show").out)
    assert world.run("bundle", world.task, "-o", str(bundle)).code == 0
    return Golden(world=world, files=dict(FolderFiles(world.folder)), bundle=bundle, public_key=public)
