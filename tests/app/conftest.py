"""A repository with runs in it that are made of events instead of work; a project, and conversations in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.config.settings import load
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.store.log.run_log import RunLog
from tests.support.people import Open

Tell = Callable[..., Path]
_DONE: dict[str, Any] = {"repeat_last": True, "chat": [{"text": "Done."}]}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """What a conversation sees of the environment."""
    return {"HOME": str(tmp_path / "home"), "AGENTFORGE_HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is a repository without a commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def opened(project: Path, environ: dict[str, str], tmp_path: Path) -> Iterator[Open]:
    """Open a session of the project with a scripted model, which says "Done." if nothing else is given."""
    chats: list[Chat] = []

    def open_chat(script: dict[str, Any] = _DONE, person: Any = None, cwd: Path = project, **options: Any) -> Chat:
        file = tmp_path / "script.yaml"
        file.write_text(yaml.safe_dump(script))
        given = ChatOptions(cwd=cwd, model=f"scripted/{file}", **options)
        chats.append(Chat.open(given, person or Nobody(), settings=load(cwd, environ), environ=environ))
        return chats[-1]

    yield open_chat
    for chat in chats:
        chat.close()


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
