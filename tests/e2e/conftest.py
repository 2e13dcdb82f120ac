"""A fresh world for every test, at one path per worker, so that equal test runs are measured once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.world import World, make_world


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lives as long as the test session."""
    return tmp_path_factory.mktemp("world")


@pytest.fixture
def world(tmp_path: Path, place: Path, pycache: Path) -> World:
    """The small repository, with results of test runs shared by all tests."""
    return make_world(place / "repo", tmp_path / "home", pycache=pycache, results=place / "results")
