"""`agentforge policy` and `agentforge trust` as people and programs use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def hook(project: Path, text: str = "id\n") -> Path:
    path = project / ".agentforge" / "hooks" / "a.sh"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["git log --oneline | head"], 0),
        (["git push"], 3),
        (["rm -rf /"], 4),
        (["touch a", "--mode", "auto"], 0),
        (["--tool", "read_file", "--arguments", '{"path": "src/a.py"}'], 0),
        (["--tool", "read_file", "--arguments", '{"path": "../a"}'], 3),
        (["--tool", "write_file", "--arguments", '{"path": ".git/x", "content": ""}', "--mode", "yolo"], 4),
        (["--tool", "no_tool"], 2),
        (["--tool", "read_file", "--arguments", "[]"], 2),
        (["ls", "--mode", "sometimes"], 2),
        ([], 2),
    ],
)
def test_policy_test_answers_by_its_exit_code(project: Path, arguments: list[str], code: int) -> None:
    assert run(["policy", "test", *arguments]) == code


def test_policy_test_explains_every_part(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "test", "ls && npm install", "--json"]) == 3
    value = json.loads(capsys.readouterr().out)
    assert [(part["class"], part["verdict"]) for part in value["parts"]] == [("read-only", "allow"), ("install", "ask")]
    assert value["suggestions"][0]["rule"] == "shell(npm install *)"


def test_a_rule_that_policy_test_offers_can_be_added_and_then_holds(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["policy", "test", "npm install left"]) == 3
    assert "agentforge policy add allow 'shell(npm install *)'" in capsys.readouterr().out
    assert run(["policy", "add", "allow", "shell(npm install *)", "--for-ever"]) == 0
    assert run(["policy", "test", "npm install left"]) == 0
    capsys.readouterr()
    assert run(["policy", "add", "deny", "shell(npm install *)", "--days", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["file"]) == ("deny", str(home / "af" / "config" / "config.toml"))
    assert told["until"]
    assert run(["policy", "test", "npm install left"]) == 4
    assert run(["policy", "add", "allow", "shell(npm"]) == 2
    assert run(["policy", "add", "allow", "shell(npm *) until 2027-01-31"]) == 2
    assert run(["policy", "add", "allow", "shell(ls)", "--days", "2", "--for-ever"]) == 2


def test_a_bad_rule_stops_everything_with_its_line(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = home / "af" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[permissions]\ndeny = ["shell(curl"]\n')
    assert run(["policy", "test", "ls"]) == 2
    assert "config.toml:2" in capsys.readouterr().err


def test_start_refuses_a_project_that_nobody_trusted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hook(project)
    assert run(["start", "do it"]) == 2
    err = capsys.readouterr().err
    assert ".agentforge/hooks/a.sh" in err
    assert "agentforge trust" in err
    assert run(["resume", "task-x"]) == 2
    assert "untrusted" in capsys.readouterr().err


def test_trust_lasts_until_a_byte_changes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = hook(project)
    assert run(["trust"]) == 2
    assert run(["trust", "--yes"]) == 0
    assert run(["trust"]) == 0
    capsys.readouterr()
    assert run(["trust", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["state"] == "trusted"
    path.write_text("other\n")
    assert run(["trust", "."]) == 2
    assert "~ .agentforge/hooks/a.sh" in capsys.readouterr().out
    assert run(["trust", "revoke"]) == 0
    assert run(["trust", "revoke"]) == 1
    assert run(["trust", "list"]) == 0
    assert "no project is trusted" in capsys.readouterr().out


def test_trust_on_the_command_line_is_remembered(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hook(project)
    run(["start", "do it", "--trust"])
    assert "untrusted" not in capsys.readouterr().err
    run(["start", "do it"])
    assert "untrusted" not in capsys.readouterr().err


def test_the_settings_of_a_folder_inside_the_repository_need_trust_too(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "inner"
    (inner / ".agentforge").mkdir(parents=True)
    (inner / ".agentforge" / "config.toml").write_text(
        '[[hooks]]\nname = "a"\ntrigger = "before_tool"\ncommand = "id"\n'
    )
    monkeypatch.chdir(inner)
    assert run(["start", "do it"]) == 2
