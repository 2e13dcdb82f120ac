"""`.env` files: which are read, in which order, and what a project's may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.config.dotenv import merged_environment
from agentforge.config.trust import grant, trusted


@pytest.fixture
def folders(environ: dict[str, str], project: Path) -> Path:
    own = Path(environ["HOME"]) / ".config/agentforge"
    own.mkdir(parents=True)
    (own / ".env").write_text("FIRST=user\nSECOND=user\nTHIRD=user\n")
    (project / ".env").write_text("FIRST=project\nSECOND=project\n")
    return project


def _trust(project: Path, environ: dict[str, str]) -> None:
    grant(trusted(project, environ), environ, now="2026-01-01T00:00:00Z")


def _read(environ: dict[str, str], project: Path) -> list[str | None]:
    found = merged_environment({**environ, "FIRST": "set"}, cwd=project)
    return [found.get(name) for name in ("FIRST", "SECOND", "THIRD")]


def test_the_environment_beats_the_project_and_the_project_beats_the_user(
    environ: dict[str, str], folders: Path
) -> None:
    _trust(folders, environ)
    assert _read(environ, folders) == ["set", "project", "user"]


def test_a_project_that_is_not_trusted_sets_nothing(environ: dict[str, str], folders: Path) -> None:
    assert _read(environ, folders) == ["set", "user", "user"]
    _trust(folders, environ)
    (folders / ".env").write_text("SECOND=changed\n")
    assert _read(environ, folders) == ["set", "user", "user"]


def test_the_file_of_the_projects_top_is_found_from_below(environ: dict[str, str], folders: Path) -> None:
    _trust(folders, environ)
    below = folders / "src" / "deep"
    below.mkdir(parents=True)
    assert merged_environment(environ, cwd=below)["SECOND"] == "project"


def test_a_project_moves_none_of_our_own_places(environ: dict[str, str], folders: Path) -> None:
    (folders / ".env").write_text("AGENTFORGE_HOME=/elsewhere\nXDG_DATA_HOME=/elsewhere\nPATHS=ok\n")
    _trust(folders, environ)
    found = merged_environment(environ, cwd=folders)
    assert (found.get("AGENTFORGE_HOME"), found.get("XDG_DATA_HOME"), found["PATHS"]) == (None, None, "ok")


def test_an_odd_line_of_a_projects_file_is_passed_over(environ: dict[str, str], folders: Path) -> None:
    (folders / ".env").write_text("just words\nA='open\nKEPT=1\n")
    _trust(folders, environ)
    assert merged_environment(environ, cwd=folders)["KEPT"] == "1"
