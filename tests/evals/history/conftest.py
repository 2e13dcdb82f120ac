"""A repository with a history of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.past import Past


@pytest.fixture
def history(tmp_path: Path) -> Past:
    """An empty repository on branch main."""
    return Past(tmp_path / "history")
