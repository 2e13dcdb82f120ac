"""A repository with a history of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.past import Past
from tests.support.world import bare_settings


@pytest.fixture
def bare_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's own settings are: every suite runs bare."""
    home = tmp_path / "home"
    monkeypatch.setenv("AGENTFORGE_HOME", str(home))
    bare_settings(home, "")
    return home


@pytest.fixture
def history(tmp_path: Path, bare_home: Path) -> Past:
    """An empty repository on branch main."""
    return Past(tmp_path / "history")
