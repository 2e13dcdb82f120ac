"""A user's home and a project, both empty, for the tests of settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_home_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without `HOME` means the home of who runs the tests, who may have pulled a model."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def write() -> Callable[[Path, str], Path]:
    def _write(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return _write
