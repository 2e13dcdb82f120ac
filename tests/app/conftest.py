"""A repository with runs in it that are made of events instead of work."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.store.log import RunLog

Tell = Callable[..., Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither the user's settings nor the user's repositories reach a test."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("AGENTFORGE_HOME", str(folder / "af"))
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit."""
    root = (tmp_path / "my repo").resolve()
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "test_a.py").write_text("def test_a(): pass\n")
    settings = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", *settings, *arguments], cwd=root, check=True)
    return root


@pytest.fixture
def tell(repo: Path) -> Tell:
    """Record a run: its first record, then the given events, one second apart."""

    def record(*events: Event, run_id: str = "task-20260101-slugify", day: int = 1) -> Path:
        folder = repo / ".agentforge" / "tasks" / run_id
        clock = _ticking(day)
        first = kinds.RunStarted(
            kind="task", run_id=run_id, request="add slugify", repo=str(repo), base_commit="b" * 40,
            limits={"max_steps": 20, "budget_tokens": 1000},
        )  # fmt: skip
        with RunLog.create(folder, first, clock=lambda: next(clock)) as log:
            for event in events:
                log.append(event)
        return folder

    return record


def _ticking(day: int) -> Iterator[str]:
    moment = datetime(2026, 1, day, tzinfo=UTC)
    while True:
        moment += timedelta(seconds=1)
        yield moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
