"""`agentforge mcp add|list|get|remove`: servers of the user and of a project, and what is said about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agentforge.cli.startup.entry import run

_SERVER = Path(__file__).parents[1] / "tools" / "fixtures" / "odd_server.py"
_PATIENT = ("--startup-timeout", "120")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "odd_server.py").write_text(_SERVER.read_text())
    monkeypatch.chdir(folder)
    return folder


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    run([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_server_of_the_user_is_added_started_shown_and_removed(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mcp")
    file = home / "af" / "config" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("# mine\napproval = 'auto'\n")
    assert (
        run(["mcp", "add", "odd", *_PATIENT, "-e", "SERVICE_KEY=sekrit", "--", sys.executable, "-S", "odd_server.py"])
        == 0
    )
    assert file.read_text().startswith("# mine\n")
    assert tomllib.loads(file.read_text())["mcp_servers"] == {
        "odd": {
            "command": sys.executable,
            "args": ["-S", "odd_server.py"],
            "env": {"SERVICE_KEY": "sekrit"},
            "startup_timeout_sec": 120,
        }
    }
    (row,) = _json(capsys, "mcp", "list")["servers"]
    assert (row["scope"], row["state"], row["prompts"]) == ("user", "ready", ["review"])
    assert "odd__greet" in row["tools"] and row["resources"] == ["memo://today (Today)"]
    assert run(["mcp", "get", "odd"]) == 0
    shown = capsys.readouterr().out
    assert "SERVICE_KEY=***" in shown and "sekrit" not in shown and "connected, 5 tools" in shown
    assert run(["mcp", "add", "odd", "--", "x"]) == 2
    assert run(["mcp", "remove", "odd"]) == 0
    assert "mcp_servers.odd" not in file.read_text()


def test_a_server_of_the_project_stands_in_a_file_that_others_read_and_waits_for_trust(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mcp")
    (project / ".mcp.json").write_text('{"mcpServers": {}, "more": [1]}')
    monkeypatch.chdir(project / "src")
    command = ("--", sys.executable, "-S", "../odd_server.py")
    assert run(["mcp", "add", "odd", "--scope", "project", *_PATIENT, *command]) == 0
    assert json.loads((project / ".mcp.json").read_text()) == {
        "mcpServers": {
            "odd": {"type": "stdio", "command": command[1], "args": list(command[2:]), "startup_timeout_sec": 120}
        },
        "more": [1],
    }
    (row,) = _json(capsys, "mcp", "list")["servers"]
    assert (row["scope"], row["state"]) == ("project", "refused") and "agentforge trust" in row["reason"]
    assert run(["mcp", "get", "odd"]) == 1
    assert run(["trust", "--yes"]) == 0
    monkeypatch.chdir(project)
    assert (
        run(["mcp", "remove", "odd"]) == 0
        and run(["mcp", "add", "odd", "-s", "project", *_PATIENT, *command[:3], "odd_server.py"]) == 0
    )
    assert run(["trust", "--yes"]) == 0
    assert _json(capsys, "mcp", "get", "odd")["state"] == "ready"


def test_a_server_is_added_from_the_json_that_its_page_shows(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"type": "stdio", "command": sys.executable, "args": ["-S", "odd_server.py"], "env": {"A": "1"}}
    assert run(["mcp", "add-json", "odd", json.dumps(entry)]) == 0
    written = tomllib.loads((home / "af" / "config" / "config.toml").read_text())["mcp_servers"]
    assert written == {"odd": {key: entry[key] for key in ("command", "args", "env")}}
    whole = {"mcpServers": {"web": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}
    assert run(["mcp", "add-json", "web", json.dumps(whole), "--scope", "project"]) == 0
    assert json.loads((project / ".mcp.json").read_text()) == whole
    capsys.readouterr()
    for text in (
        "{",
        "[]",
        '{"mcpServers": {}}',
        '{"type": "sse", "url": "http://x"}',
        '{"command": "x", "colour": 1}',
    ):
        assert run(["mcp", "add-json", "new", text]) != 0, text
    assert capsys.readouterr().err.count("error[") == 5


def test_what_will_hinder_a_server_is_told_when_it_is_added(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "add", "a", "-e", "A=${NO_SUCH}", "--", "npx", "-y", "x"]) == 0
    told = capsys.readouterr().err
    assert "NO_SUCH is not set" in told and "set network = true" in told
    assert run(["mcp", "add", "b", "--network", "--", "npx", "-y", "x"]) == 0
    assert capsys.readouterr().err == ""


def test_a_server_that_cannot_start_says_why_and_what_to_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mcp")
    run(["mcp", "add", "gone", "--", "no-such-program"])
    run(["mcp", "add", "web", "http://127.0.0.1:9/mcp", "-H", "Authorization: Bearer ${NO_SUCH_TOKEN}"])
    reasons = {one["name"]: one["reason"] for one in _json(capsys, "mcp", "list")["servers"]}
    assert "there is no program 'no-such-program' here" in reasons["gone"]
    assert "http://127.0.0.1:9/mcp cannot be reached" in reasons["web"] and "NO_SUCH_TOKEN is not set" in reasons["web"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "a b", "--", "x"], "a name has letters"),
        (["add", "a", "npx", "-y", "x"], "write -- before that"),
        (["add", "a", "https://x.org", "y"], "does not go with"),
        (["add", "a", "https://x.org", "--env", "A=1"], "--env does not go with"),
        (["add", "a", "--header", "A: 1", "--", "x"], "--header does not go with"),
        (["add", "a", "--scope", "project", "--network", "--", "x"], "for your own servers only"),
        (["add", "a", "--transport", "http", "--", "x"], "an address begins with"),
        (["add", "a", "--env", "A", "--", "x"], "is not a NAME=VALUE"),
        (["get", "a"], "there is no MCP server 'a'"),
        (["remove", "a"], "there is no MCP server 'a'"),
        (["login", "a"], "there is no MCP server 'a'"),
    ],
)
def test_what_makes_no_sense_is_an_error_and_writes_nothing(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(["mcp", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (home / "af" / "config").exists() and not (project / ".mcp.json").exists()


def test_without_the_library_a_server_is_an_error_in_one_line(project: Path, tmp_path: Path) -> None:
    run(["mcp", "add", "odd", "--", sys.executable, "-S", "odd_server.py"])
    (tmp_path / "without" / "mcp").mkdir(parents=True)
    (tmp_path / "without" / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError(name='mcp')")
    done = subprocess.run(
        [sys.executable, "-m", "agentforge", "mcp", "get", "odd"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "without")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert "need a library that is not installed: " in done.stdout
