"""Proves what `make run` does: the model first, then `agentforge start` in the right repository, with the words as they were given."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = '#!/bin/bash\nprintf "%s|" "$(basename "$PWD")" "$@" >> "$CALLS"; echo >> "$CALLS"\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose `agentforge` writes down how it is called."""
    for part in ("scripts/main_job.sh", "src/agentforge/demo/project"):
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


def calls(checkout: Path, code: int = 0, **wishes: str) -> list[list[str]]:
    log = checkout / "calls"
    log.unlink(missing_ok=True)
    environ = {"PATH": os.environ["PATH"], "HOME": str(checkout), "CALLS": str(log), **wishes}
    done = subprocess.run(
        ["bash", "scripts/main_job.sh"], cwd=checkout, env=environ, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == code, done.stderr
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.rstrip("|").split("|") for line in lines]


def test_the_sample_repository_is_made_and_worked_on(checkout: Path) -> None:
    pulled, started = calls(checkout, YES="1")
    assert pulled[1:] == ["model", "pull", "qwen2.5-coder-1.5b", "--yes"]
    assert started[:2] == ["shopcart", "start"]
    assert "percent_of(999, 50) returns 499" in started[2]
    assert started[3:] == ["--model", "local/qwen2.5-coder-1.5b"]
    git = ["git", "-C", str(checkout / "build" / "shopcart"), "status", "--porcelain"]
    assert subprocess.run(git, check=True, capture_output=True).stdout == b""
    assert len(calls(checkout)) == 2  # a second time makes it anew


def test_a_repository_and_a_request_of_the_users_own_are_taken_word_for_word(checkout: Path, tmp_path: Path) -> None:
    own = tmp_path / "own repo"
    own.mkdir()
    request = 'f("x") returns `y`, and $HOME stays'
    pulled, started = calls(checkout, REPO=str(own), REQUEST=request, FROM="/media/usb")
    assert pulled[3:] == ["qwen2.5-coder-1.5b", "--from", "/media/usb"]
    assert started == ["own repo", "start", request, "--model", "local/qwen2.5-coder-1.5b"]


def test_another_model_is_not_pulled_and_a_repository_needs_a_request(checkout: Path, tmp_path: Path) -> None:
    (started,) = calls(checkout, MODEL="ollama/qwen3")
    assert started[-1] == "ollama/qwen3"
    assert calls(checkout, code=2, REPO=str(tmp_path)) == []
