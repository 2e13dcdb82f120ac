"""A run at its remote: tried again after a pause, refused by a hook, planted by somebody else, driven by a slow clock."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agentforge.app.sync import fetch as fetching
from agentforge.app.sync.travel import Traveller
from agentforge.errors import IntegrityError, LockedError, UsageError
from agentforge.events import kinds
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git import remotes
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import snapshot_ref

_TASK = "task-20260102-x"


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ann@example.org")
    seed = tmp_path / "seed"
    subprocess.run(["git", "init", "-q", "-b", "main", str(seed)], check=True)
    (seed / "a.txt").write_text("a\n")
    subprocess.run(["git", "-C", str(seed), "add", "."], check=True)
    subprocess.run(["git", "-C", str(seed), "commit", "-qm", "base"], check=True)
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(seed), str(bare)], check=True)
    return bare


def _clone(remote: Path, name: str) -> Git:
    place = remote.parent / name
    subprocess.run(["git", "clone", "-q", str(remote), str(place)], check=True)
    return Git(place)


def _log(git: Git, *, worktree: str = "", run_id: str = _TASK, at: str = "2026-01-02T03:04:05.000000Z") -> RunLog:
    first = kinds.RunStarted(
        kind="task",
        run_id=run_id,
        request="r",
        repo=str(git.top),
        base_commit=git.head(),
        worktree=worktree or str(git.top.parent / "data" / "w"),
    )
    return RunLog.create(git.top / ".agentforge" / "tasks" / _TASK, first, clock=lambda: at)


def test_a_remote_that_is_away_is_left_alone_for_a_while_and_told_of_once(remote: Path) -> None:
    git, clock = _clone(remote, "here"), Time()
    away = remote.with_name("away.git")
    with _log(git) as log:
        traveller = Traveller(log, git, remote="origin", clock=clock)
        remote.rename(away)
        traveller.share(log.state)
        passed = kinds.StagePassed(stage="intake", artifact_digest="d")
        traveller(passed, log.state)
        away.rename(remote)
        traveller(passed, log.state)
        assert remotes.remote_commit(git.command, "origin", snapshot_ref(_TASK)) == "", "the pause is not over"
        clock.now_s += 31
        traveller(passed, log.state)
        assert remotes.remote_commit(git.command, "origin", snapshot_ref(_TASK)) != ""
        rows = [json.loads(line) for line in (log.folder / "events.jsonl").read_text().splitlines()]
    told = [bool(row["data"]["error"]) for row in rows if row["type"] == "RunShared"]
    assert told == [True, False]


def test_a_wait_is_pushed_whatever_the_pause_says(remote: Path) -> None:
    git = _clone(remote, "here")
    with _log(git) as log:
        traveller = Traveller(log, git, remote="origin", clock=Time())
        away = remote.with_name("away.git")
        remote.rename(away)
        traveller.share(log.state)
        away.rename(remote)
        asked = kinds.EscalationRaised(escalation_id="E1", stage="", kind="question", reason="r", question="q")
        traveller(asked, log.state)
        assert remotes.remote_commit(git.command, "origin", snapshot_ref(_TASK)) != ""


def test_a_remote_that_refuses_is_no_other_machine(remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho https://ann:t0ken-t0ken@example.org says no >&2\nexit 1\n")
    hook.chmod(0o755)
    git = _clone(remote, "here")
    with _log(git) as log:
        Traveller(log, git, remote="origin").share(log.state)
        text = (log.folder / "events.jsonl").read_text()
    assert "RunShared" in text and "says no" in text and "t0ken" not in text


def test_of_two_that_push_the_second_is_told_that_the_run_went_on(remote: Path) -> None:
    one, two = _clone(remote, "one"), _clone(remote, "two")
    with _log(one) as log:
        Traveller(log, one, remote="origin").share(log.state)
    fetched = fetching.fetch(two.top, _TASK, remote="origin")
    assert fetched.outcome == "new"
    slow = "2020-01-01T00:00:00.000000Z"
    with RunLog.open(two.top / ".agentforge" / "tasks" / _TASK, clock=lambda: slow) as there:
        there.append(kinds.RunResumed(pid=1))
        Traveller(there, two, remote="origin").share(there.state)
        assert there.state.progress.last_at >= "2026-01-02", (
            "a clock that is behind does not turn the time of the run back"
        )
    with RunLog.open(log.folder, clock=lambda: slow) as late:
        late.append(kinds.RunResumed(pid=2))
        with pytest.raises(LockedError, match="was continued on another machine"):
            Traveller(late, one, remote="origin").share(late.state)


def test_a_process_that_drives_the_run_keeps_its_copy(remote: Path) -> None:
    one, two = _clone(remote, "one"), _clone(remote, "two")
    with _log(one) as log:
        Traveller(log, one, remote="origin").share(log.state)
        fetching.fetch(two.top, _TASK, remote="origin")
        with RunLog.open(
            two.top / ".agentforge" / "tasks" / _TASK, clock=lambda: "2026-01-03T00:00:00.000000Z"
        ) as there:
            there.append(kinds.RunResumed(pid=1))
            Traveller(there, two, remote="origin").share(there.state)
        with pytest.raises(LockedError, match="is being driven"):
            fetching.fetch(one.top, _TASK, remote="origin")
    assert fetching.fetch(one.top, _TASK, remote="origin").outcome == "advanced"


@pytest.mark.parametrize("what", ["record", "blob", "name", "place"])
def test_what_cannot_be_believed_is_not_taken(what: str, remote: Path) -> None:
    one, two = _clone(remote, "one"), _clone(remote, "two")
    victim = remote.parent / "precious"
    victim.mkdir()
    if what == "place":
        first = kinds.RunStarted(
            kind="task", run_id=_TASK, request="r", repo="/elsewhere", base_commit=one.head(), worktree=str(victim)
        )
        log = RunLog.create(
            one.top / ".agentforge" / "tasks" / _TASK, first, clock=lambda: "2026-01-02T00:00:00.000000Z"
        )
    else:
        log = _log(one, run_id="task-other" if what == "name" else _TASK)
    digest = log.blobs.put(b"said")
    log.append(kinds.StagePassed(stage="intake", artifact_digest=digest))
    log.close()
    if what == "record":
        path = log.folder / "events.jsonl"
        path.write_text(path.read_text().replace('"intake"', '"deliver"'))
    elif what == "blob":
        (log.folder / "blobs" / digest[:2] / digest[2:]).write_bytes(b"other")
    from agentforge.workspace.git.runtree import commit_run

    commit = commit_run(
        one, _TASK, log.folder, base=one.head(), delivered="", when="2026-01-02T00:00:00Z", index=remote.parent / "i"
    )
    assert remotes.push(one.command, "origin", commit=commit, ref=snapshot_ref(_TASK)).outcome == "taken"
    with pytest.raises(IntegrityError):
        fetching.fetch(two.top, _TASK, remote="origin")
    (row,) = fetching.fetch_all(two.top, remote="origin")
    assert row.outcome == "refused" and row.error
    assert not (two.top / ".agentforge" / "tasks" / _TASK).exists() and victim.is_dir()


def test_an_address_is_no_name_of_a_remote(remote: Path) -> None:
    git = _clone(remote, "here")
    for word in (str(remote), "ext::sh -c true", "", "-u", "../remote.git"):
        with pytest.raises(UsageError, match="has no remote"):
            remotes.require_remote(git.command, word)
