"""What it costs that a run travels: pushes to a bare remote on this disk, many runs at one remote, two machines at once.

`python -m bench.travel --runs 10000` prints one line per figure; without `--runs` a remote holds 1,000 runs at most. Remote
and clones lie in a temporary folder; nothing else is touched.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from agentforge.workspace.git import remotes
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.runtree import commit_run
from agentforge.workspace.git.snapshots import snapshot_ref

_IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
_STEPS_PER_STAGE = 5
_WHEN = "2026-01-02T03:04:05Z"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="so many runs stand at the remote in the end")
    counts = sorted({min(1_000, (runs := parser.parse_args().runs)), runs})
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        remote = _remote(top)
        clones = [_clone(remote, top / f"clone{number}") for number in range(4)]
        _one_run(clones[0], top)
        _at_once(clones, top)
        _many_runs(clones[0], remote, counts=counts)
    return 0


def _remote(top: Path) -> Path:
    seed = top / "seed"
    seed.mkdir()
    (seed / "README").write_text("x\n")
    _run("git", "init", "-q", "-b", "main", cwd=seed)
    _run("git", "add", ".", cwd=seed)
    _run("git", "commit", "-qm", "base", cwd=seed)
    _run("git", "clone", "-q", "--bare", str(seed), str(top / "remote.git"), cwd=top)
    return top / "remote.git"


def _clone(remote: Path, place: Path) -> Git:
    _run("git", "clone", "-q", str(remote), str(place), cwd=remote)
    return Git(place)


def _one_run(git: Git, top: Path) -> None:
    """A run of ten stages with five steps each: what a boundary costs, and what the remote holds in the end."""
    folder = top / "task-one"
    commits, pushes = [], []
    before = _size(top / "remote.git")
    for stage in range(10):
        _grow(folder, stage)
        began = time.perf_counter()
        commit = _commit(git, "task-one", folder, top)
        commits.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert remotes.push(git.command, "origin", commit=commit, ref=snapshot_ref("task-one")).outcome == "taken"
        pushes.append(time.perf_counter() - began)
    raw = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"commit of a boundary, median: {statistics.median(commits) * 1000:.0f} ms")
    print(f"push of a boundary, median: {statistics.median(pushes) * 1000:.0f} ms")
    more = _size(top / "remote.git") - before
    print(f"a run of 50 steps: {raw / 1024:.0f} KiB on disk, {more / 1024:.0f} KiB more at the remote")


def _at_once(clones: list[Git], top: Path) -> None:
    """Four machines push runs of their own to one remote at the same time."""
    each = 10

    def work(number: int, git: Git) -> None:
        folder = top / f"task-{number}"
        for stage in range(each):
            _grow(folder, stage)
            commit = _commit(git, f"task-{number}", folder, top)
            done = remotes.push(git.command, "origin", commit=commit, ref=snapshot_ref(f"task-{number}"))
            assert done.outcome == "taken", done.reason

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(clones)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    print(
        f"4 machines at once: {len(clones) * each / took:.0f} boundaries a second at one remote ({os.cpu_count()} cores)"
    )


def _many_runs(git: Git, remote: Path, *, counts: list[int]) -> None:
    """How long a machine looks for runs when the remote holds many, loose and packed."""
    commit = git.head()
    for count in counts:
        rows = "".join(f"create refs/agentforge/runs/task-{count}-{number} {commit}\n" for number in range(count))
        subprocess.run(["git", "update-ref", "--stdin"], cwd=remote, input=rows.encode(), check=True)
        _run("git", "pack-refs", "--all", cwd=remote)
        began = time.perf_counter()
        found = remotes.remote_refs(git.command, "origin", "refs/agentforge/runs/*")
        looked = time.perf_counter() - began
        began = time.perf_counter()
        done = remotes.push(git.command, "origin", commit=commit, ref=f"refs/agentforge/runs/probe-{count}")
        pushed = time.perf_counter() - began
        assert done.outcome == "taken"
        print(f"{len(found)} runs at the remote: listed in {looked * 1000:.0f} ms, a push takes {pushed * 1000:.0f} ms")


def _grow(folder: Path, stage: int) -> None:
    """Five more steps: a request, a reply and an output each, and their records."""
    with _log(folder).open("a") as log:
        for step in range(_STEPS_PER_STAGE):
            for size in (30_000, 2_000, 4_000):
                text = hashlib.sha256(f"{folder.name}{stage}{step}{size}".encode()).hexdigest()
                content = "".join(f"{number} {text}\n" for number in range(size // 70)).encode()
                digest = hashlib.sha256(content).hexdigest()
                path = folder / "blobs" / digest[:2] / digest[2:]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                log.write(json.dumps({"type": "ToolFinished", "data": {"output": digest, "text": "x" * 600}}) + "\n")


def _log(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "events.jsonl"


def _commit(git: Git, task: str, folder: Path, top: Path) -> str:
    index = top / f"{task}.index"
    return commit_run(git, task, folder, base=git.found_at, delivered="", when=_WHEN, index=index)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _run(*argv: str, cwd: Path) -> None:
    subprocess.run(argv, cwd=cwd, env={**os.environ, **_IDENTITY}, check=True)


if __name__ == "__main__":
    sys.exit(main())
