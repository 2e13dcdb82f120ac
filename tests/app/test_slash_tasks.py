"""/start, /status, /resolve from within a conversation, with a real task behind them."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.app.sessions.background import next_output
from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.app.slash import run_slash
from agentforge.config.settings import load
from agentforge.events import kinds

if TYPE_CHECKING:
    from tests.support.people import Open

Tell = Callable[..., Path]


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    home = str(tmp_path / "home")
    environ = {"HOME": home, "AGENTFORGE_HOME": home}
    monkeypatch.setenv("AGENTFORGE_HOME", home)
    folder = tmp_path / "project"
    folder.mkdir()
    for line in ("init -q", "-c user.name=a -c user.email=a@example.org commit -q --allow-empty -m base"):
        subprocess.run(["git", *line.split()], cwd=folder, check=True)
    options = ChatOptions(cwd=folder, model="scripted/nowhere.yaml")
    with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as opened:
        yield opened


def test_a_task_that_cannot_begin_says_why(chat: Chat) -> None:
    assert run_slash(chat, "/start add a function").ok
    (job,) = chat.jobs
    job.process.wait(60)
    line = job.look()
    assert line.outcome == "failed"
    assert "nowhere.yaml" in line.error


def test_without_tasks_nothing_is_listed_and_nothing_waits(chat: Chat) -> None:
    assert "No tasks yet" in run_slash(chat, "/status").text
    assert run_slash(chat, "/tasks").data["tasks"] == []
    assert run_slash(chat, "/resolve").text == "Nothing waits for you."


@pytest.mark.parametrize(
    "line", ["/start", "/resolve x.E1 maybe", "/resolve x.E1 reject", "/resolve x.E1 approve", "/status no"]
)
def test_a_wrong_line_is_answered_not_raised(chat: Chat, line: str) -> None:
    reply = run_slash(chat, line)
    assert not reply.ok
    assert reply.text
    assert chat.jobs == []


def test_a_session_shows_the_tasks_that_it_started_with_what_they_ask_and_the_artifact(
    opened: Open, repo: Path, tell: Tell
) -> None:
    asked = kinds.EscalationRaised(
        escalation_id="E1", stage="spec", kind="approval", reason="r", question="Is this right?", shown="goal: slugs"
    )
    tell(kinds.StageStarted(stage="spec", attempt=1), asked)
    tell(kinds.StageStarted(stage="spec", attempt=1), asked, run_id="task-of-somebody-else", day=2)
    chat = opened(cwd=repo)
    started = {"type": "RunStarted", "data": {"run_id": "task-20260101-slugify", "request": "add slugify"}}
    file = next_output(chat.log.folder)
    file.parent.mkdir()
    file.write_text(json.dumps(started) + "\n" + '{"type": "StageSt')  # a line that is being written
    assert next_output(chat.log.folder).name == "2.jsonl"
    shown = run_slash(chat, "/tasks")
    assert [row["task_id"] for row in shown.data["tasks"]] == ["task-20260101-slugify"]  # type: ignore[attr-defined]
    assert "somebody-else" not in shown.text and "goal: slugs" in shown.text
    assert "`/resolve task-20260101-slugify.E1 approve`" in shown.text
    assert "`/resolve task-20260101-slugify.E1 reject REASON`" in shown.text
    assert "goal: slugs" in run_slash(chat, "/resolve task-20260101-slugify.E1").text
    assert "task-of-somebody-else.E1" in run_slash(chat, "/resolve").text


def test_a_delivered_task_shows_what_came_of_it_and_how_to_take_it(opened: Open, repo: Path, tell: Tell) -> None:
    report = {
        "changes": [{"path": "kit/__init__.py", "lines_added": 3, "lines_removed": 1}],
        "requirements": [{"id": "REQ-001", "description": "slugs"}],
    }
    verified = kinds.StageVerified(
        stage="deliver", attempt=1, passed=True, contract="delivery_report", contract_digest="d", artifact=report,
        artifact_digest="a", results=(),
    )  # fmt: skip
    branch = "agentforge/task-20260101-slugify"
    tell(
        kinds.StageStarted(stage="deliver", attempt=1),
        verified,
        kinds.StagePassed(stage="deliver", artifact_digest="a"),
        kinds.Delivered(branch=branch, commit="c" * 40, tree="t"),
        kinds.RunFinished(outcome="delivered"),
    )
    chat = opened(cwd=repo)
    file = next_output(chat.log.folder)
    file.parent.mkdir()
    started = {"type": "RunStarted", "data": {"run_id": "task-20260101-slugify", "request": "add slugify"}}
    file.write_text(json.dumps(started) + "\n")
    for line in ("/tasks", "/status task-20260101-slugify"):
        told = run_slash(chat, line).text
        assert "`kit/__init__.py` +3 -1" in told and "REQ-001 slugs" in told and f"`!git merge {branch}`" in told


def test_a_task_says_which_changes_it_leaves_out(chat: Chat) -> None:
    (chat.workshop.root / "draft.py").write_text("x = 1\n")
    begun = run_slash(chat, "/start add a function")
    assert begun.data["left_out"] == ["draft.py"] and "`draft.py`" in begun.text
    chat.jobs[0].process.wait(60)


def test_a_task_that_runs_is_stopped_and_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, folder = str(tmp_path / "home"), tmp_path / "project"
    folder.mkdir()
    for line in ("init -q", "-c user.name=a -c user.email=a@example.org commit -q --allow-empty -m base"):
        subprocess.run(["git", *line.split()], cwd=folder, check=True)
    with socket.create_server(("127.0.0.1", 0)) as server:  # a provider that takes a request and never answers
        server.settimeout(120)
        environ = {"HOME": home, "AGENTFORGE_HOME": home, "API_KEY": "k"}
        environ["BASE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        options = ChatOptions(cwd=folder, model="custom/m")
        with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as chat:
            assert run_slash(chat, "/start add a function").ok
            with server.accept()[0]:
                (job,) = chat.jobs
                task = job.look().task_id
                assert task and not run_slash(chat, "/tasks stop").ok
                assert task in run_slash(chat, "/tasks stop nothing").text
                assert run_slash(chat, f"/tasks stop {task}").data == {"stopped": [task]}
            assert job.process.poll() is not None
            assert job.look().outcome == "paused"
            assert run_slash(chat, "/tasks stop all").data == {"stopped": []}
            assert [row["outcome"] for row in run_slash(chat, "/tasks").data["tasks"]] == ["paused"]  # type: ignore[attr-defined]


def test_a_session_that_started_a_task_is_kept(opened: Open) -> None:
    chat = opened()
    assert run_slash(chat, "/start add a function").ok
    chat.jobs[0].process.wait(60)
    chat.close()
    assert (chat.log.folder / "tasks" / "1.jsonl").exists()
