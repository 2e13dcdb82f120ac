"""Proves that `config set` writes where it says, and that no setting of a project gets a second home."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".agentforge" / "config").mkdir(parents=True)
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)
    return folder / ".agentforge"


def test_a_key_of_the_projects_yaml_is_changed_there_and_commands_go_on_working(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    yaml = project / "config" / "settings.yaml"
    yaml.write_text("# ours\nmodel:\n  name: a\n  provider: openai\n")
    for arguments in (["model.name", "b"], ["model.name", "c", "--project"]):
        assert run(["config", "set", *arguments]) == 0
        assert str(yaml) in capsys.readouterr().out
        assert run(["config", "show"]) == 0
        assert f'"{arguments[1]}"' in capsys.readouterr().out
    assert yaml.read_text() == '# ours\nmodel:\n  name: "c"\n  provider: openai\n'
    assert not (project / "config.toml").exists() and not (home / "af" / "config" / "config.toml").exists()
    assert run(["config", "set", "max_turns", "5", "--project"]) == 0  # a new key goes into the file the program writes
    assert (project / "config.toml").read_text() == "max_turns = 5\n"
    assert run(["config", "show"]) == 0


def test_ones_own_settings_are_written_where_the_project_says_nothing_or_on_demand(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = home / "af" / "config" / "config.toml"
    assert run(["config", "set", "model.name", "a"]) == 0
    assert str(own) in capsys.readouterr().out
    (project / "config.toml").write_text('[model]\nname = "b"\n')
    assert run(["config", "set", "model.name", "c", "--user"]) == 0
    told = capsys.readouterr()
    assert str(own) in told.out and str(project / "config.toml") in told.err
    assert own.read_text() == '[model]\nname = "c"\n' and 'name = "b"' in (project / "config.toml").read_text()
    assert run(["config", "set", "model.name", "--remove"]) == 0
    assert "name" not in (project / "config.toml").read_text()
