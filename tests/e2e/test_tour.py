"""The guided tour's project and trail, as docs/tour.md shows them: they open, verify, replay and are reported by today's program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "bookings"
TRAIL = PROJECT / "trail"
TASK = "task-20261126-add-oauth2-authentication-to-the-api"


def _ran(repo: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "AGENTFORGE_HOME": str(home / "af"), "LANG": "C.UTF-8"}
    argv = [sys.executable, "-m", "agentforge", *arguments]
    return subprocess.run(argv, cwd=repo, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The repository of the tour with the run in its place, and a home."""
    place = tmp_path_factory.mktemp("tour")
    repo, home = place / "api", place / "home"
    home.mkdir()
    ours = ["+refs/heads/*:refs/heads/*", "+refs/notes/*:refs/notes/*"]
    for argv in (
        ["git", "init", "-q", "-b", "elsewhere", str(repo)],
        ["git", "-C", str(repo), "fetch", "-q", str(TRAIL / "repository.bundle"), *ours],
        ["git", "-C", str(repo), "checkout", "-q", "main"],
    ):
        subprocess.run(argv, check=True, capture_output=True)
    with tarfile.open(TRAIL / "run.afbundle") as packed:
        packed.extractall(place / "unpacked", filter="data")
    (repo / ".agentforge" / "tasks").mkdir(parents=True)
    (place / "unpacked" / "run").rename(repo / ".agentforge" / "tasks" / TASK)
    return repo, home


def test_the_bundle_verifies_alone_with_its_key(tmp_path):
    done = _ran(tmp_path, tmp_path, "verify", str(TRAIL / "run.afbundle"), "--key", str(TRAIL / "key.pub"), "--json")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sources_are_those_that_the_run_began_with(opened):
    repo, _ = opened
    tracked = subprocess.run(["git", "ls-files"], cwd=repo, capture_output=True, text=True, check=True).stdout.split()
    assert {path: (PROJECT / path).read_bytes() for path in tracked} == {
        path: (repo / path).read_bytes() for path in tracked
    }


def test_the_run_was_delivered_after_two_questions_with_the_verdicts_that_the_page_tells(opened):
    repo, home = opened
    assert json.loads(_ran(repo, home, "status", TASK, "--json").stdout)["outcome"] == "delivered"
    measured = json.loads(_ran(repo, home, "metrics", "--json").stdout)
    assert measured["health"]["escalations"] == {"question": 2}
    assert measured["health"]["verdicts"] == {"passed": 8, "judged": 8}
    facts = [
        record["data"]["facts"]
        for line in (repo / ".agentforge" / "tasks" / TASK / "events.jsonl").read_text().splitlines()
        if (record := json.loads(line))["type"] == "FactsGathered" and record["data"]["name"] == "green"
    ]
    (green,) = facts
    assert (green["tests_run"], green["passed"], len(green["refitted"])) == (83, 83, 19)
    assert (green["mutation"]["killed"], green["mutation"]["run"], green["mutation"]["not_run"]) == (11, 11, 9)
    assert (green["coverage"]["executed"], green["coverage"]["executable"]) == (104, 104)
    page = (ROOT / "docs" / "tour.md").read_text()
    assert all(said in page for said in ("all 83 tests pass", "all 104 changed statements", "19 old tests"))


def test_it_replays_or_says_where_a_newer_version_asks_otherwise(opened):
    repo, home = opened
    done = _ran(repo, home, "replay", TASK, "--json")
    value = json.loads(done.stdout)
    assert value["ok"] is (done.returncode == 0), done.stderr
    assert value["ok"] or (value["divergence"]["event"], value["divergence"]["field"]) != ("", "")


def test_its_recorded_changes_make_the_delivered_tree_again(opened):
    repo, home = opened
    done = _ran(repo, home, "replay", TASK, "--actions-only", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    tree = subprocess.run(
        ["git", "rev-parse", f"agentforge/{TASK}^{{tree}}"], cwd=repo, capture_output=True, text=True, check=True
    )
    assert tree.stdout.strip() in done.stdout


def test_it_is_audited(opened):
    repo, home = opened
    done = _ran(repo, home, "audit", TASK, "--format", "md", "-o", str(home / "audit.md"))
    assert done.returncode == 0, done.stderr
    assert "REQ-004" in (home / "audit.md").read_text()
