from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from agentforge.errors import IntegrityError, StorageError, UsageError
from agentforge.events import kinds
from agentforge.store.log.reader import LOG, fold
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import (
    TaskRow,
    ensure_agentforge_folder,
    find_task,
    list_tasks,
    new_task_folder,
    task_row,
    tasks_folder,
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path / "a repo é"], check=True)
    return tmp_path / "a repo é"


def test_runs_do_not_show_in_git_status_and_settings_do(repo):
    _, folder = new_task_folder(repo, "Add slugify", day="20251231")
    (folder / "events.jsonl").write_text("x")
    status = ["git", "-C", str(repo), "status", "--porcelain", "-uall"]
    assert subprocess.run(status, capture_output=True, text=True, check=True).stdout == ""
    (repo / ".agentforge/config.toml").write_text("")
    assert ".agentforge/config.toml" in subprocess.run(status, capture_output=True, text=True, check=True).stdout


def test_a_gitignore_that_is_there_already_is_kept(repo):
    (repo / ".agentforge").mkdir()
    (repo / ".agentforge/.gitignore").write_text("mine\n")
    assert ensure_agentforge_folder(repo) == repo / ".agentforge"
    assert (repo / ".agentforge/.gitignore").read_text() == "mine\n"


def test_equal_requests_of_one_day_get_folders_of_their_own(repo):
    names = [new_task_folder(repo, "Add slugify!", day="20251231")[0] for _ in range(3)]
    assert names == ["task-20251231-add-slugify", "task-20251231-add-slugify-2", "task-20251231-add-slugify-3"]


def test_processes_that_start_at_once_never_share_a_folder(repo):
    names: list[str] = []
    threads = [
        threading.Thread(target=lambda: names.append(new_task_folder(repo, "x", day="20251231")[0])) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 12


def test_a_file_in_the_place_of_the_folder_is_a_clear_error(repo):
    (repo / ".agentforge").write_text("")
    with pytest.raises(StorageError, match=r"\.agentforge"):
        new_task_folder(repo, "x", day="20251231")


def test_a_repository_without_tasks_lists_none(repo):
    assert list_tasks(repo) == []


def test_tasks_are_listed_newest_first_with_how_they_stand(repo, run_parts):
    def run(name: str, start: str, *events: kinds.Event) -> RunLog:
        log = RunLog.create(tasks_folder(repo) / name, run_parts.first(), clock=run_parts.clock(start=start))
        for event in events:
            log.append(event)
        return log

    raised = kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="question", reason="r", question="q")
    run(
        "task-20250101-old",
        "2025-01-01T00:00:00.000000Z",
        *run_parts.step(1, "intake"),
        kinds.RunFinished(outcome="failed"),
    ).close()
    run("task-20250102-asks", "2025-01-02T00:00:00.000000Z", raised).close()
    run("task-20250103-left", "2025-01-03T00:00:00.000000Z", kinds.RunInterrupted(reason="x")).close()
    (tasks_folder(repo) / "task-20250104-lost" / "blobs").mkdir(parents=True)
    with run("task-20250105-now", "2025-01-05T00:00:00.000000Z", *[*run_parts.step(1, "intake")][:2]):
        rows = list_tasks(repo)
    assert [(row.task_id, row.outcome) for row in rows] == [
        ("task-20250105-now", "running"),
        ("task-20250103-left", "paused"),
        ("task-20250102-asks", "escalated"),
        ("task-20250101-old", "failed"),
        ("task-20250104-lost", "damaged"),
    ]
    assert rows[0].prompt_tokens == 2100  # read from the log: its views were a step behind
    assert rows[2].open_escalations == ("E1",) and "missing" in rows[4].error
    assert rows[3].cost_usd == 0.001 and rows[3].steps == 1 and rows[3].request == run_parts.first().request


def test_a_row_is_read_from_the_views_only_while_they_show_the_whole_log(finished_run, run_parts):
    mark = finished_run / "views.json"
    mark.write_bytes(mark.read_bytes().replace(b'"stage":""', b'"stage":"from the views"'))
    assert task_row(finished_run).stage == ""  # the log stands as it was left, they do not
    (finished_run / "lease").unlink()
    assert task_row(finished_run).stage == "from the views"
    lines = (finished_run / LOG).read_bytes().splitlines(keepends=True)
    (finished_run / LOG).write_bytes(b"".join(lines[:-2]))
    assert task_row(finished_run).stage == "green"


def test_a_damaged_log_is_listed_with_the_reason(finished_run):
    (finished_run / LOG).write_bytes(b"{}\n")
    row = task_row(finished_run)
    assert row.outcome == "damaged" and "record 1" in row.error


def test_a_folder_in_place_of_a_log_is_damage(finished_run):
    (finished_run / LOG).unlink()
    (finished_run / LOG).mkdir()
    row = task_row(finished_run)
    assert (row.outcome, row.cause) == ("damaged", "integrity")
    with pytest.raises(IntegrityError, match="is a folder and no log"):
        fold(finished_run)


def test_a_log_that_the_system_does_not_let_us_read_is_not_called_altered(finished_run, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StorageError, match="cannot be read: Permission denied"):
        fold(finished_run)
    assert task_row(finished_run).cause == "storage"


def test_a_folder_in_which_no_task_began_is_told_as_such(repo):
    name, folder = new_task_folder(repo, "Add slugify", day="20251231")
    with pytest.raises(UsageError, match="no task began in"):
        find_task(repo, name)
    assert find_task(repo, name, empty=True) == (name, folder)


def test_a_task_is_found_by_its_id_or_an_unambiguous_beginning(repo):
    names = [new_task_folder(repo, request, day="20251231")[0] for request in ("Add slugify", "Add sluggish", "Fix it")]
    for name in names:
        (tasks_folder(repo) / name / LOG).write_bytes(b"")
    assert find_task(repo, names[0]) == (names[0], tasks_folder(repo) / names[0])
    assert find_task(repo, "task-20251231-fix")[0] == find_task(repo, "fix")[0] == names[2]
    with pytest.raises(UsageError, match="matches 2 tasks: task-20251231-add-slugg"):
        find_task(repo, "add-slug")
    for nothing in ("", "nope", "../..", "."):
        with pytest.raises(UsageError):
            find_task(repo, nothing)


def test_a_search_without_any_task_says_how_to_start_one(repo):
    with pytest.raises(UsageError, match="agentforge start"):
        find_task(repo, "x")


@pytest.mark.parametrize(
    ("name", "parent", "number"),
    [("task-x-a2", "task-x", 2), ("task-x-2", "task-x", 0), ("task-x-a2", "", 0), ("task-x-about", "task-x", 0)],
)
def test_an_attempt_is_known_by_its_parents_name(name: str, parent: str, number: int) -> None:
    assert TaskRow(task_id=name, folder=Path("r"), outcome="aborted", parent=parent).attempt == number


def test_a_file_in_the_place_of_the_folder_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / ".agentforge").write_text("mine")
    with pytest.raises(StorageError, match="Not a directory") as refused:
        ensure_agentforge_folder(tmp_path)
    assert "move it away" in refused.value.hint


def test_a_folder_in_which_no_task_began_is_no_task(repo):
    _, empty = new_task_folder(repo, "Add slugify", day="20251231")
    _, leased = new_task_folder(repo, "Add shout", day="20251231")
    (leased / "lease").write_text("{}\n")
    assert list_tasks(repo) == []
    assert list(empty.iterdir()) == []
    (leased / "blobs").mkdir()  # the log of a task that was there is gone
    assert [row.outcome for row in list_tasks(repo)] == ["damaged"]
