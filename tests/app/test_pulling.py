"""Notes of two machines meet at the remote; nobody's are lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentforge.app.composition.run_result import RunResult, exit_code
from agentforge.app.proof.remote_notes import push_notes
from agentforge.app.pull_requests.request import with_pull
from agentforge.config.settings import load
from agentforge.workspace.git.repository import Git
from tests.support.run_states import run_state

_NOTES = "refs/notes/agentforge"


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A bare repository and two clones of it, each with a note on a commit of its own."""
    first, bare, second = tmp_path / "first", tmp_path / "bare.git", tmp_path / "second"
    subprocess.run(["git", "init", "-q", str(first)], check=True)
    for name in ("one", "two"):
        _git(first, "commit", "-q", "--allow-empty", "-m", name)
    _git(first, "clone", "-q", "--bare", str(first), str(bare))
    _git(first, "remote", "add", "origin", str(bare))
    _git(first, "clone", "-q", str(bare), str(second))
    _git(first, "notes", f"--ref={_NOTES}", "add", "-m", "of the first", "HEAD")
    _git(second, "notes", f"--ref={_NOTES}", "add", "-m", "of the second", "HEAD~1")
    return bare, first, second


def test_the_second_machine_joins_the_notes_of_the_first(clones):
    bare, first, second = clones
    assert push_notes(Git(first), "origin").outcome == push_notes(Git(second), "origin").outcome == "taken"
    assert _git(bare, "notes", f"--ref={_NOTES}", "show", "HEAD") == "of the first"
    assert _git(bare, "notes", f"--ref={_NOTES}", "show", "HEAD~1") == "of the second"
    assert _git(second, "for-each-ref", "refs/notes/agentforge-incoming") == ""


def test_a_remote_that_takes_no_notes_says_why(clones):
    bare, first, _ = clones
    hook = bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    done = push_notes(Git(first), "origin")
    assert done.outcome == "failed" and "pre-receive" in done.reason


def test_a_pull_request_that_fails_leaves_the_delivery_and_says_how_to_try_again(tmp_path):
    state = run_state(run_id="task-1", repo=str(tmp_path), outcome="delivered", pull={"wanted": True})
    settings = load(tmp_path, {"HOME": str(tmp_path)})
    result = with_pull(RunResult(state=state, folder=tmp_path), settings=settings, environ={})
    assert result.state.progress.outcome == "delivered" and result.error is not None
    assert "agentforge pr task-1" in result.error.hint
    assert exit_code(result) == result.error.exit_code != 0


def test_a_fork_opens_no_pull_request_unasked():
    from agentforge.events import kinds
    from agentforge.events.fold.evolve import evolve

    parent = run_state(run_id="task-1", branch="b", pull={"wanted": True, "follows": "task-0"}, untrusted=("review",))
    forked = kinds.RunForked(
        run_id="task-2", parent="task-1", parent_head="", parent_records=1, step=1, repo="", worktree="", branch="c"
    )
    child = evolve(parent, forked, at="2026-01-01T00:00:00Z")
    assert (child.relations.pull, child.progress.untrusted) == ({"wanted": False, "follows": "task-0"}, ("review",))
