"""Commands that look at tasks and decide on them, over real logs in a real repository; nothing is driven."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentforge.cli.startup.entry import run
from agentforge.events import kinds
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import new_task_folder

if TYPE_CHECKING:
    from tests.cli.conftest import Story


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, story: Story) -> str:
    """The id of a task that asks a question."""
    repo = tmp_path / "repo"
    repo.mkdir()
    for command in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "base"]):
        subprocess.run(["git", "-c", "user.email=a@b", "-c", "user.name=A", *command], cwd=repo, check=True)
    monkeypatch.chdir(repo)
    task_id, folder = new_task_folder(repo, "add slugify", day="20261121")
    assert isinstance(story.started, kinds.RunStarted)
    first = replace(story.started, run_id=task_id, repo=str(repo), worktree=str(tmp_path / "worktree"))
    with RunLog.create(folder, first, clock=utc_now) as log:
        log.append(kinds.StageStarted(stage="clarify", attempt=1))
        log.append(story.question)
    return task_id


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert run([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_status_lists_and_shows_a_waiting_task(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = _json(capsys, "status")
    assert (row["task_id"], row["outcome"], row["stage"]) == (waiting, "escalated", "clarify")
    shown = _json(capsys, "status", waiting)
    assert shown["escalations"][0]["status"] == "pending"
    assert run(["status"]) == 0
    assert f"{waiting}  escalated  clarify  add slugify" in capsys.readouterr().out
    assert run(["status", waiting]) == 0
    assert f"agentforge resolve {waiting}.E1 --answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", ["status", "status ID", "inspect ID", "inspect ID --step 1", "cost ID", "cost --all", "escalations list"]
)
def test_a_run_that_was_altered_is_never_shown_as_whole(
    waiting: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Path(".agentforge/tasks") / waiting / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b"clarify", b"clarifi", 1))
    assert run(command.replace("ID", waiting).split()) == 9
    told = capsys.readouterr()
    assert told.err.startswith("error[integrity]: ") and "record 2 breaks the chain" in told.err
    assert "escalated" not in told.out
    assert run([*command.replace("ID", waiting).split(), "--json"]) == 9


def test_escalations_are_listed_shown_and_resolved(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = _json(capsys, "escalations", "list")
    assert (row["address"], row["kind"], row["options"]) == (f"{waiting}.E1", "question", ["red", "blue"])
    assert _json(capsys, "escalations", "show", "E1")["address"] == f"{waiting}.E1"
    assert run(["escalations", "list"]) == 0
    assert f"{waiting}.E1  question  clarify  Which one?" in capsys.readouterr().out
    assert run(["escalations", "show", f"{waiting}.E1"]) == 0
    assert "  2. blue: " in capsys.readouterr().out
    assert run(["resolve", "E1", "--answer", "blue"]) == 0
    assert capsys.readouterr().out == f"recorded; go on with: agentforge resume {waiting}\n"
    assert _json(capsys, "escalations", "list") == []
    answered = _json(capsys, "escalations", "show", "E1")
    assert (answered["decision"], answered["answer"]) == ("answer", "blue")
    assert run(["resolve", "E1", "--answer", "red"]) == 8
    assert "was answered already" in capsys.readouterr().err


def test_a_task_is_aborted_once(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _json(capsys, "abort", waiting, "--reason", "by hand")["outcome"] == "aborted"
    assert run(["abort", waiting]) == 8
    assert "error[conflict]" in capsys.readouterr().err
    assert run(["resume", waiting]) == 8
    assert "has ended: aborted" in capsys.readouterr().err


def test_an_abort_closes_the_questions_of_its_task_everywhere(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _json(capsys, "abort", waiting)["outcome"] == "aborted"
    assert _json(capsys, "escalations", "list") == []
    (row,) = _json(capsys, "status")
    assert (row["outcome"], row["open_escalations"]) == ("aborted", [])
    (asked,) = _json(capsys, "status", waiting)["escalations"]
    assert asked["status"] != "pending"
    assert _json(capsys, "metrics")["productivity"]["waiting_now"] == 0
    assert run(["resolve", f"{waiting}.E1", "--answer", "red"]) == 8
    assert "is closed" in capsys.readouterr().err
    assert run(["verify", waiting]) in (0, 4)  # nothing is delivered, and nothing is altered


def test_the_list_says_why_a_task_stopped_and_what_to_type(
    waiting: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["status"]) == 0
    assert "1 task asks you: agentforge resolve" in capsys.readouterr().out
    folder = Path(".agentforge/tasks") / waiting
    with RunLog.open(folder, clock=utc_now) as log:
        log.append(kinds.EscalationResolved(escalation_id="E1", decision="answer", text="red"))
    assert run(["status"]) == 0
    assert f"  agentforge resume {waiting}" in capsys.readouterr().out


def test_an_unknown_task_is_named(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "task-nope"]) == 2
    assert "task-nope" in capsys.readouterr().err


def test_the_events_of_a_task_can_be_inspected(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    events = _json(capsys, "inspect", waiting, "--show", "events")
    assert [event["type"] for event in events] == ["RunStarted", "StageStarted", "EscalationRaised"]
    assert run(["inspect", waiting, "--step", "9"]) == 2
    assert "there is no step 9" in capsys.readouterr().err
