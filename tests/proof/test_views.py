"""Views of another program version are no alteration; a real one is found whichever version wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.app.proof.verification import views_of
from agentforge.events import kinds
from agentforge.events.storage import view_mark
from agentforge.events.storage.view_mark import MARK, mark_bytes, views_seal
from agentforge.proof.files import FolderFiles
from agentforge.proof.report import Check
from agentforge.proof.run import Surroundings, verify_run
from agentforge.store.log.run_log import RunLog

NOW = "2026-01-01T10:00:00.000000Z"
OLD = "0.0.9"


def written_by(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> dict[str, bytes]:
    """The files of a small run that a version of agentforge drove; it writes the task's request in its own words."""
    with monkeypatch.context() as other:
        other.setattr("agentforge.store.views.projector.views_writer", lambda: view_mark.views_writer(version))
        other.setattr("agentforge.store.views.projector.task_value", lambda state: {"asked": state.brief.request})
        first = kinds.RunStarted(
            kind="task",
            run_id="task-20260101-a",
            request="r",
            repo="/r",
            base_commit="c" * 40,
            versions={"agentforge": version},
        )
        with RunLog.create(folder, first, clock=lambda: NOW) as log:
            log.append(kinds.RunFinished(outcome="aborted"))
    return dict(FolderFiles(folder))


def views_check(files: dict[str, bytes]) -> Check:
    report, _ = verify_run(files, Surroundings(rebuild=views_of))
    assert [check.detail for check in report.checks if not check.ok and check.name != "views"] == []
    return next(check for check in report.checks if check.name == "views")


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    return written_by(tmp_path / "task-20260101-a", monkeypatch, OLD)


def test_views_of_another_version_hold_and_it_is_told_who_wrote_them(old: dict[str, bytes]) -> None:
    check = views_check(old)
    assert check.ok
    assert f"agentforge {OLD}" in check.detail
    assert "1 of them would be written differently" in check.detail


@pytest.mark.parametrize("name", ["task.yaml", "state.yaml", "actions.yaml", "working_memory.yaml", MARK])
def test_an_altered_view_of_another_version_is_found(old: dict[str, bytes], name: str) -> None:
    for data in (old[name] + b" ", old[name][:-1], old[name].replace(b"a", b"b", 1), b""):
        assert not views_check({**old, name: data}).ok


def test_a_view_that_was_added_or_removed_is_found(old: dict[str, bytes]) -> None:
    assert not views_check({**old, "artifacts/new.yaml": b"x: 1\n"}).ok
    assert not views_check({name: data for name, data in old.items() if name != "task.yaml"}).ok


def test_naming_a_version_that_wrote_no_record_excuses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentforge import __version__

    files = written_by(tmp_path / "task-20260101-a", monkeypatch, __version__)
    assert not views_check(files).ok  # the same version would have written other words
    mark = json.loads(files[MARK]) | {"writer": view_mark.views_writer("9.9")}
    views = {name: data for name, data in files.items() if name not in (MARK, "events.jsonl", "lease")}
    check = views_check({**files, MARK: mark_bytes({**mark, "seal": views_seal(views, mark)})})
    assert not check.ok
    assert "wrote no record" in check.detail


def test_a_run_goes_on_with_views_that_this_version_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "task-20260101-a"
    written_by(folder, monkeypatch, OLD)
    RunLog.open(folder, clock=lambda: NOW).close()
    check = views_check(dict(FolderFiles(folder)))
    assert check.ok
    assert "each as the log has it" in check.detail
