"""A fresh world for every test, at one path per worker, so that equal test runs are measured once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agentforge_world import World

_SPEC = importlib.util.spec_from_file_location("agentforge_world", Path(__file__).parent / "world.py")
assert _SPEC is not None and _SPEC.loader is not None
_WORLD = importlib.util.module_from_spec(_SPEC)
sys.modules["agentforge_world"] = _WORLD
_SPEC.loader.exec_module(_WORLD)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lives as long as the test session."""
    return tmp_path_factory.mktemp("world")


@pytest.fixture
def world(tmp_path: Path, place: Path, pycache: Path) -> World:
    """The small repository, with results of test runs shared by all tests."""
    return _WORLD.make_world(place / "repo", tmp_path / "home", pycache=pycache, results=place / "results")
