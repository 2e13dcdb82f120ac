"""The way of a user who moves over: init, doctor, run, report, sessions, export, and slash commands through a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

_TOO_OPEN = 0o077


@pytest.fixture
def agentforge(folder: Path, home: Path):  # type: ignore[no-untyped-def]  # a function with a free number of words
    def run(*words: str, stdin: str = "", code: int = 0) -> str:
        environ = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "dumb"}
        done = subprocess.run(
            [sys.executable, "-m", "agentforge", *words],
            cwd=folder, env=environ, input=stdin, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def model(tmp_path: Path) -> str:
    write = {"name": "write_file", "args": {"path": "new.txt", "content": "hello"}}
    script = tmp_path / "chat.yaml"
    script.write_text(
        yaml.safe_dump({"chat": [{"text": "", "tool_calls": [write]}, {"text": "Done."}, {"text": "More."}]})
    )
    return f"scripted/{script}"


def test_a_user_who_moves_over_finds_the_commands(agentforge, folder: Path, home: Path, model: str) -> None:  # type: ignore[no-untyped-def]
    agentforge("init", "--provider", "openrouter")
    assert (home / ".config" / "agentforge" / "config.toml").is_file()
    assert agentforge("run", "do it", "--model", model, "--approval", "auto") == "Done.\n"
    assert (folder / "new.txt").read_text() == "hello"
    report = json.loads(agentforge("report", "--json"))
    assert (report["turn_count"], report["schema_version"]) == (1, 1)
    session = report["session_id"]
    assert session in agentforge("report", "--session-id", session)
    assert session[:8] in agentforge("sessions")
    assert "do it" in agentforge("export", session[:8])
    assert "<html" in agentforge("export", "--format", "html")


def test_what_is_written_is_the_owners_alone(agentforge, home: Path, model: str) -> None:  # type: ignore[no-untyped-def]
    agentforge("run", "do it", "--model", model, "--approval", "auto")
    data = home / ".local" / "share" / "agentforge"
    assert data.stat().st_mode & _TOO_OPEN == 0
    for name in ("sessions", "events", "checkpoints"):
        files = list((data / name).iterdir())
        assert files and not any(file.stat().st_mode & _TOO_OPEN for file in files)


def test_commands_work_line_by_line(agentforge, model: str) -> None:  # type: ignore[no-untyped-def]
    told = agentforge("--model", model, "--approval", "auto", stdin="do it\n/name moved\n/report\n/todos\n/exit\n")
    assert "Done." in told
    assert "- name: moved" in told
