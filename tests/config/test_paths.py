"""Where AgentForge keeps its files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agentforge.config.paths import config_dir, data_dir, project_top
from agentforge.errors import StorageError


def test_the_folders_follow_home_xdg_and_agentforge_home_in_rising_order(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path / "h")}
    xdg = {**home, "XDG_DATA_HOME": str(tmp_path / "xd"), "XDG_CONFIG_HOME": str(tmp_path / "xc")}
    own = {**xdg, "AGENTFORGE_HOME": str(tmp_path / "own")}
    assert data_dir(home) == tmp_path / "h/.local/share/agentforge"
    assert config_dir(home) == tmp_path / "h/.config/agentforge"
    assert data_dir(xdg) == tmp_path / "xd/agentforge"
    assert config_dir(xdg) == tmp_path / "xc/agentforge"
    assert data_dir(own) == tmp_path / "own/data"
    assert config_dir(own) == tmp_path / "own/config"


def test_a_relative_xdg_value_is_ignored(tmp_path: Path) -> None:
    assert config_dir({"HOME": str(tmp_path), "XDG_CONFIG_HOME": "etc"}) == tmp_path / ".config/agentforge"


def test_the_data_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = data_dir({"HOME": str(tmp_path)})
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_data_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be made"):
        data_dir({"AGENTFORGE_HOME": str(tmp_path / "file")})


def test_project_settings_are_found_from_below_but_not_above_the_repository(tmp_path: Path) -> None:
    environ = {"HOME": "/nowhere"}
    repo = tmp_path / "repo"
    deep = repo / "a" / "b"
    deep.mkdir(parents=True)
    (repo / ".git").mkdir()
    (tmp_path / ".agentforge").mkdir()
    (tmp_path / ".agentforge" / "config.toml").write_text("")
    assert project_top(deep, environ) is None
    (repo / ".agentforge" / "config").mkdir(parents=True)
    (repo / ".agentforge" / "config" / "settings.yaml").write_text("")
    assert project_top(deep, environ) == repo


def test_the_home_folder_is_no_project(tmp_path: Path) -> None:
    (tmp_path / ".agentforge").mkdir()
    (tmp_path / ".agentforge" / "config.toml").write_text("")
    assert project_top(tmp_path, {"HOME": str(tmp_path)}) is None
