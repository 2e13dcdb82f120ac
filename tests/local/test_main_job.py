"""Proves what `make run` does: the model first, then `agentforge start` in the right repository, with the words as they were given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = """#!/bin/bash
printf "%s|" "$(basename "$PWD")" "$@" >> "$CALLS"; echo >> "$CALLS"
[ "$1 $2" = "model list" ] && echo "$LISTED"
[ "$1 $2" = "model pull" ] && exit "${PULLED:-0}"
exit 0
"""
NAME = "qwen2.5-coder-1.5b"
OTHER = {"provider": "ollama", "model": "qwen3", "base_url": "http://127.0.0.1:11434/v1"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose `agentforge` writes down how it is called."""
    for part in ("scripts/main_job.py", "src/agentforge/demo/project"):
        source, target = ROOT / part, tmp_path / "checkout" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    program = tmp_path / "checkout" / ".venv" / "bin" / "agentforge"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE)
    program.chmod(0o755)
    return tmp_path / "checkout"


def calls(
    checkout: Path, code: int = 0, *, whole: bool = False, answering: object = None, **wishes: str
) -> list[list[str]]:
    log = checkout / "calls"
    log.unlink(missing_ok=True)
    listed = json.dumps({"models": [{"name": NAME, "whole": whole}], "answering": answering})
    environ = {"PATH": os.environ["PATH"], "HOME": str(checkout), "CALLS": str(log), "LISTED": listed, **wishes}
    done = subprocess.run(
        [sys.executable, "scripts/main_job.py"],
        cwd=checkout,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert done.returncode == code, done.stderr
    lines = log.read_text().splitlines() if log.exists() else []
    return [row for line in lines if (row := line.rstrip("|").split("|"))[1:3] != ["model", "list"]]


def test_the_sample_repository_is_made_and_worked_on(checkout: Path) -> None:
    pulled, started = calls(checkout, YES="1")
    assert pulled[1:] == ["model", "pull", NAME, "--yes"]
    assert started[:2] == ["shopcart", "start"]
    assert "percent_of(999, 50) returns 499" in started[2]
    assert started[3:] == ["--model", f"local/{NAME}"]
    git = ["git", "-C", str(checkout / "build" / "shopcart"), "status", "--porcelain"]
    assert subprocess.run(git, check=True, capture_output=True).stdout == b""
    assert len(calls(checkout, whole=True)) == 2  # a second time makes it anew


def test_a_repository_and_a_request_of_the_users_own_are_taken_word_for_word(checkout: Path, tmp_path: Path) -> None:
    own = tmp_path / "own repo"
    own.mkdir()
    request = 'f("x") returns `y`, and $HOME stays'
    pulled, started = calls(checkout, REPO=str(own), REQUEST=request, FROM="/media/usb")
    assert pulled[3:] == [NAME, "--from", "/media/usb"]
    assert started == ["own repo", "start", request, "--model", f"local/{NAME}"]


def test_a_server_that_answers_here_does_the_job_where_no_place_has_the_model(checkout: Path) -> None:
    _pulled, started = calls(checkout, YES="1", PULLED="5", answering=OTHER)
    assert started[-1] == "ollama/qwen3"
    (started,) = calls(checkout, answering=OTHER)  # nobody agreed to a download: none is tried
    assert started[-1] == "ollama/qwen3"


def test_the_demonstration_is_played_where_no_model_can_be_had(checkout: Path, tmp_path: Path) -> None:
    _pulled, played = calls(checkout, YES="1", PULLED="5")
    assert played[1:] == ["demo"]
    (played,) = calls(checkout)
    assert played[1:] == ["demo"]
    assert len(calls(checkout, code=5, REPO=str(tmp_path), REQUEST="own", YES="1", PULLED="5")) == 1  # no demo for that


def test_a_download_that_was_named_or_interrupted_ends_the_job(checkout: Path) -> None:
    assert len(calls(checkout, code=2, YES="1", PULLED="2", FROM="/gone")) == 1
    assert len(calls(checkout, code=130, YES="1", PULLED="130")) == 1


def test_another_model_is_not_pulled_and_a_repository_needs_a_request(checkout: Path, tmp_path: Path) -> None:
    (started,) = calls(checkout, MODEL="ollama/qwen3")
    assert started[-1] == "ollama/qwen3"
    assert calls(checkout, code=2, REPO=str(tmp_path)) == []
