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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["model", "gpt"], ["model takes a table", '"gpt"', "config explain model", "model.name"]),
        (["approval", "nope"], ["approval takes one of on-request", '"nope"', "config explain approval"]),
        (["approval", "yolo", "--project"], ["approval", '"yolo"', "--user"]),
        (
            ["limits.budget_usd", "abc"],
            ["limits.budget_usd takes a number", '"abc"', "config explain limits.budget_usd"],
        ),
        (["proof.anchor", "a b"], ["proof.anchor takes the name of a git remote", '"a b"']),
        (["sandbox.hidden", '["x"]'], ["sandbox.hidden takes a list of paths that begin with /", '["x"]']),
        (["model.nme", "x"], ["model.nme", '"x"', "did you mean model.name?"]),
        (["model", '{"name": 5}'], ["model", "model.name: 5", "model.name"]),
        (["model", '{"name": null}'], ["model", "null", "config explain model"]),
        (["model.fallbacks", "[null]"], ["model.fallbacks", "null", "config explain model.fallbacks"]),
        (
            ["model.temperature", "NaN"],
            ["model.temperature takes a number", '"NaN"', "config explain model.temperature"],
        ),
        (["model.name", "a\udcff"], ["model.name", "UTF-8"]),
        (["", "x"], ["unknown setting", '"x"', "config show"]),
    ],
)
def test_a_refused_value_is_told_with_its_key_what_is_allowed_the_file_and_a_next_step(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: list[str]
) -> None:
    file = project if "--project" in arguments else home / "af" / "config"
    assert run(["config", "set", *arguments]) == 2
    error = capsys.readouterr().err
    for words in (*told, f"nothing was written to {file / 'config.toml'}"):
        assert words in error
    assert not (file / "config.toml").exists()


def test_a_file_that_was_wrong_before_is_named_as_what_is_to_be_corrected(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = home / "af" / "config" / "config.toml"
    own.parent.mkdir(parents=True)
    for text, cause in (('model = "x"\n', "model"), ("model = \n", "line 1")):
        own.write_text(text)
        assert run(["config", "set", "approval", "auto"]) == 2
        error = capsys.readouterr().err
        assert (
            "approval: nothing was written" in error
            and str(own) in error
            and "correct it by hand" in error
            and cause in error
        )
        assert own.read_text() == text
    own.unlink()
    (project / "config.toml").write_text("model = \n")
    assert run(["config", "set", "approval", "auto"]) == 0  # one's own file is right; the project's is not yet
    assert str(project / "config.toml") in capsys.readouterr().err
