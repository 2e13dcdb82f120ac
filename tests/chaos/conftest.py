"""The world of the end-to-end tests, at one path for every run that is killed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agentforge_ends import End
    from agentforge_world import World

_PLACES = {
    "agentforge_world": Path(__file__).parents[1] / "e2e" / "world.py",
    "agentforge_ends": Path(__file__).with_name("ends.py"),
    "agentforge_random_kills": Path(__file__).with_name("random_kills.py"),
}
for _NAME, _PATH in _PLACES.items():
    if _NAME not in sys.modules:
        _SPEC = importlib.util.spec_from_file_location(_NAME, _PATH)
        assert _SPEC is not None and _SPEC.loader is not None
        sys.modules[_NAME] = importlib.util.module_from_spec(_SPEC)
        _SPEC.loader.exec_module(sys.modules[_NAME])


@pytest.fixture(scope="session")
def chaos_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every killed run takes place: the same path, so that its test runs are measured once."""
    return tmp_path_factory.mktemp("chaos")


@pytest.fixture(scope="session")
def new_world(chaos_place: Path, pycache: Path) -> NewWorld:
    """Makes the small repository anew, with a new home."""
    return NewWorld(chaos_place, pycache)


class NewWorld:
    """Call it for a fresh world at the same path."""

    def __init__(self, place: Path, pycache: Path) -> None:
        self._place = place
        self._pycache = pycache
        self._made = 0

    def __call__(self) -> World:
        """Wipe the repository and make it again."""
        from agentforge_world import make_world

        self._made += 1
        home = self._place / f"home-{self._made}"
        return make_world(self._place / "repo", home, pycache=self._pycache, results=self._place / "results")


@pytest.fixture(scope="session")
def golden(new_world: NewWorld) -> tuple[End, int]:
    """The run that nobody killed, and the number of its durable writes."""
    from agentforge_ends import end_of, script

    world = new_world()
    done = world.start(script())
    assert done.code == 0, done.out + done.err
    return end_of(world), done.json["trail"]["records"]
