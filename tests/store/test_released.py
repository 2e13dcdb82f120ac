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
import yaml

from agentforge import __version__

RELEASED = sorted((Path(__file__).parents[1] / "golden" / "released").iterdir())


def _ran(repo: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "AGENTFORGE_HOME": str(home / "af"), "LANG": "C.UTF-8"}
    argv = [sys.executable, "-m", "agentforge", *arguments]
    return subprocess.run(argv, cwd=repo, env=env, capture_output=True, text=True, check=False)


def _unbundled(bundle: Path, place: Path) -> tuple[Path, Path]:
    """A repository with the branches and notes of a bundle, and a home."""
    repo, home = place / "repo", place / "home"
    home.mkdir()
    ours = ["+refs/heads/*:refs/heads/*", "+refs/notes/*:refs/notes/*"]
    for argv in (
        ["git", "init", "-q", "-b", "elsewhere", str(repo)],
        ["git", "-C", str(repo), "fetch", "-q", str(bundle), *ours],
        ["git", "-C", str(repo), "checkout", "-q", "main"],
    ):
        subprocess.run(argv, check=True, capture_output=True)
    return repo, home


@pytest.fixture(scope="module", params=RELEASED, ids=lambda folder: folder.name)
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """The repository with the run in its place, a home, and the run's id."""
    place = tmp_path_factory.mktemp("released")
    repo, home = _unbundled(request.param / "repository.bundle", place)
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
    assert __version__ in {folder.name for folder in RELEASED}, "run: python -m tests.golden.store_release"


@pytest.mark.parametrize("folder", RELEASED, ids=lambda folder: folder.name)
def test_one_that_waited_for_a_human_goes_on_and_is_delivered(folder, tmp_path):
    waiting = folder / "waiting"
    repo, home = _unbundled(waiting / "repository.bundle", tmp_path)
    with tarfile.open(waiting / "run.tar.gz") as packed:
        packed.extractall(repo / ".agentforge" / "tasks", filter="data")
    (task,) = [path.name for path in (repo / ".agentforge" / "tasks").iterdir()]
    assert json.loads(_ran(repo, home, "status", task, "--json").stdout)["outcome"] == "escalated"
    settings = home / "af" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[test]\npython = {json.dumps(sys.executable)}\n")
    assert _ran(repo, home, "verify", task).returncode == 0
    assert _ran(repo, home, "resolve", "E1", "--approve").returncode == 0
    done = _ran(repo, home, "resume", task, "--model", f"scripted/{waiting / 'replies.yaml'}", "--json")
    assert json.loads(done.stdout)["outcome"] == "delivered", done.stdout + done.stderr
    assert _ran(repo, home, "verify", task).returncode == 0
    steps = [
        entry["step"]
        for entry in yaml.safe_load((repo / ".agentforge" / "tasks" / task / "actions.yaml").read_text())["actions"]
    ]
    assert steps[-1] == max(steps)
