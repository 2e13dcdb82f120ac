"""The world of the end-to-end tests, at one path for every run that is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kills.ends import End, end_of, script
from tests.support.world import World, make_world


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
        self._made += 1
        home = self._place / f"home-{self._made}"
        return make_world(self._place / "repo", home, pycache=self._pycache, results=self._place / "results")


@pytest.fixture(scope="session")
def golden(new_world: NewWorld) -> tuple[End, int]:
    """The run that nobody killed, and the number of its durable writes."""
    world = new_world()
    done = world.start(script())
    assert done.code == 0, done.out + done.err
    return end_of(world), done.json["trail"]["records"]
