"""A run of every released version opens, verifies, replays and is reported by today's program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from agentforge import __version__

RELEASED = sorted((Path(__file__).parents[1] / "golden" / "released").iterdir())


def _ran(repo: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "AGENTFORGE_HOME": str(home / "af"), "LANG": "C.UTF-8"}
    argv = [sys.executable, "-m", "agentforge", *arguments]
    return subprocess.run(argv, cwd=repo, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=RELEASED, ids=lambda folder: folder.name)
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """The repository with the run in its place, a home, and the run's id."""
    place = tmp_path_factory.mktemp("released")
    repo, home = place / "repo", place / "home"
    home.mkdir()
    ours = ["+refs/heads/*:refs/heads/*", "+refs/notes/*:refs/notes/*"]
    for argv in (
        ["git", "init", "-q", "-b", "elsewhere", str(repo)],
        ["git", "-C", str(repo), "fetch", "-q", str(request.param / "repository.bundle"), *ours],
        ["git", "-C", str(repo), "checkout", "-q", "main"],
    ):
        subprocess.run(argv, check=True, capture_output=True)
    with tarfile.open(request.param / "run.afbundle") as packed:
        packed.extractall(place / "unpacked", filter="data")
    task = json.loads((place / "unpacked" / "manifest.json").read_text())["task"]
    shutil.copytree(place / "unpacked" / "run", repo / ".agentforge" / "tasks" / task)
    shutil.copy(request.param / "lease", repo / ".agentforge" / "tasks" / task / "lease")
    return repo, home, task


def test_it_opens(old):
    repo, home, task = old
    done = _ran(repo, home, "status", task, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "delivered"
    assert _ran(repo, home, "inspect", task, "--step", "1", "--show", "events").returncode == 0


def test_it_verifies_from_its_folder_and_from_its_branch(old):
    repo, home, task = old
    for target in (task, f"agentforge/{task}"):
        done = _ran(repo, home, "verify", target)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", RELEASED, ids=lambda folder: folder.name)
def test_its_bundle_verifies_alone(folder, tmp_path):
    done = _ran(tmp_path, tmp_path, "verify", str(folder / "run.afbundle"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_reported(old, tmp_path):
    repo, home, task = old
    done = _ran(repo, home, "audit", task, "--format", "md", "--output", str(tmp_path / "audit.md"))
    assert done.returncode == 0, done.stderr
    assert "REQ-001" in (tmp_path / "audit.md").read_text()
    assert _ran(repo, home, "cost", task, "--json").returncode == 0


def test_it_replays_or_says_where_a_newer_version_asks_otherwise(old):
    repo, home, task = old
    done = _ran(repo, home, "replay", task, "--json")
    value = json.loads(done.stdout)
    assert done.returncode in (0, 4), done.stderr
    assert value["ok"] is (done.returncode == 0)
    # Prompts and contracts may say more than they did; what was recorded is folded all the same, and the place is named.
    assert value["ok"] or (value["divergence"]["event"], value["divergence"]["field"]) != ("", "")


def test_there_is_a_run_of_this_version():
    assert __version__ in {folder.name for folder in RELEASED}, "run: python tests/golden/store_release.py"
