"""A repository with a history of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.past import Past
from tests.support.world import bare_settings


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Past:
    """An empty repository on branch main, and a home whose settings run every suite bare."""
    home = tmp_path / "home"
    monkeypatch.setenv("AGENTFORGE_HOME", str(home))
    bare_settings(home, "")
    return Past(tmp_path / "history")
