from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from agentforge.canonical import digest_value
from agentforge.errors import IntegrityError, LockedError, StorageError
from agentforge.events import kinds
from agentforge.store.log.reader import LOG
from agentforge.store.log.run_log import RunLog
from agentforge.store.views.projector import rebuild
from agentforge.views.yaml_text import load

NOT_VIEWS = ("lease", LOG, "blobs", "quarantine")


def views_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if path.relative_to(folder).parts[0] not in NOT_VIEWS)
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def value(folder: Path, name: str) -> dict:
    return load((folder / name).read_text(encoding="utf-8"))


def test_a_run_leaves_the_files_of_the_seed(finished_run):
    assert sorted(views_of(finished_run)) == [
        "actions.yaml",
        "artifacts/inputs/original_request.yaml",
        "artifacts/phases/clarify/clarification.yaml",
        "artifacts/phases/intake/intake_record.yaml",
        "artifacts/phases/spec/specification.yaml",
        "artifacts/snapshots/step_007.patch",
        "artifacts/snapshots/step_008.patch",
        "escalations/E1.yaml",
        "escalations/E2.yaml",
        "state.yaml",
        "task.yaml",
        "views.json",
        "working_memory.yaml",
    ]


def test_views_that_are_rebuilt_are_the_ones_that_were_kept_byte_for_byte(finished_run):
    live = views_of(finished_run)
    (finished_run / "state.yaml").write_text("changed: by hand\n")
    (finished_run / "actions.yaml").unlink()
    (finished_run / "artifacts/snapshots/step_999.patch").write_text("stray")
    (finished_run / "delivery_report.md").write_text("not a view of ours")
    rebuild(finished_run)
    assert views_of(finished_run) == {**live, "delivery_report.md": b"not a view of ours"}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(min_value=1, max_value=75), max_size=4))
def test_however_often_a_run_is_closed_and_opened_its_views_are_the_rebuilt_ones(run_parts, quick_folder, cuts):
    folder = quick_folder / "run"
    log = RunLog.create(folder, run_parts.first(), clock=run_parts.clock())
    clock = run_parts.clock(start="2025-12-31T11:00:00.000000Z")
    for number, event in enumerate(run_parts.whole(log.blobs.put)[1:], 1):
        log.append(event)
        if number in cuts:
            log.close()
            live = views_of(folder)
            rebuild(folder)
            assert views_of(folder) == live
            log = RunLog.open(folder, clock=clock)
    log.close()
    live = views_of(folder)
    rebuild(folder)
    assert views_of(folder) == live
    shutil.rmtree(folder)


def test_views_that_a_killed_process_left_behind_are_made_good_when_the_run_is_opened(
    finished_run, tmp_path, run_parts
):
    """For every length of the log and views of every earlier length: opening brings the views up to date."""
    lines = (finished_run / LOG).read_bytes().splitlines(keepends=True)
    for length in (5, 14, 30, len(lines) - 1):
        stale = tmp_path / f"stale-{length}"
        shutil.copytree(finished_run, stale)
        (stale / LOG).write_bytes(b"".join(lines[:length]))
        rebuild(stale)
        (stale / LOG).write_bytes(b"".join(lines))
        RunLog.open(stale, clock=run_parts.clock()).close()
        assert views_of(stale) == views_of(finished_run), length


@pytest.mark.parametrize("damage", ["cut", "grown", "gone", "mark gone", "mark of another log", "mark no JSON"])
def test_views_that_do_not_fit_their_mark_are_written_anew_when_the_run_is_opened(finished_run, run_parts, damage):
    live = views_of(finished_run)
    actions, mark = finished_run / "actions.yaml", finished_run / "views.json"
    if damage == "cut":
        actions.write_bytes(actions.read_bytes()[:-30])
    elif damage == "grown":
        actions.write_bytes(actions.read_bytes() + b"- step: 9\n")
    elif damage == "gone":
        actions.unlink()
    elif damage == "mark gone":
        mark.unlink()
    elif damage == "mark no JSON":
        mark.write_bytes(b"{")
    else:
        mark.write_bytes(mark.read_bytes().replace(b'"head":"', b'"head":"0'))
        actions.write_bytes(b"#" + actions.read_bytes()[1:])
    RunLog.open(finished_run, clock=run_parts.clock()).close()
    assert views_of(finished_run) == live


def test_actions_yaml_has_the_shape_of_the_seed(finished_run, run_parts):
    actions = value(finished_run, "actions.yaml")
    head = {key: item for key, item in actions.items() if key != "actions"}
    assert head == {
        "task_id": run_parts.run_id,
        "request": run_parts.first().request,
        "started_at": "2025-12-31T10:00:02Z",
        "completed_at": actions["completed_at"],
        "outcome": "success",
        "total_steps": 8,
        "total_tokens": 7 * 2190,
        "total_cost_usd": 0.007,
    }
    assert [
        (entry["step"], entry["phase"], entry["by"], entry["verification"]["passed"]) for entry in actions["actions"]
    ] == [
        (1, "intake", "model", False),
        (2, "intake", "model", True),
        (2, "clarify", "harness", True),
        (3, "spec", "model", None),
        (4, "spec", "model", None),
        (5, "spec", "model", None),
        (6, "spec", "model", True),
        (7, "green", "model", None),
        (8, "green", "model", None),
    ]
    second, harness, edit = actions["actions"][1], actions["actions"][2], actions["actions"][-1]
    assert list(second)[:3] == ["step", "timestamp", "phase"]
    assert second["action"] == {"type": "submit_artifact", "input_hash": digest_value(2)}
    artifact = value(finished_run, second["result"]["output_artifact"])
    assert second["result"]["output_hash"] == digest_value(artifact) and artifact["odd"] == "1e3"
    assert second["llm_call"]["model"] == "scripted/demo" and second["llm_call"]["prompt_tokens"] == 2100
    assert harness["llm_call"] is None and harness["verification"] == {"passed": True, "contract": "clarification"}
    assert edit["result"]["output_artifact"] == "artifacts/snapshots/step_008.patch"
    assert (finished_run / edit["result"]["output_artifact"]).read_bytes() == run_parts.patch * 40


def test_task_yaml_holds_goal_criteria_and_constraints_once_they_are_verified(finished_run):
    task = value(finished_run, "task.yaml")
    assert task["goal"] == "Add slugify"
    assert task["success_criteria"] == ["slugify('A') == 'a'", "empty stays empty"]
    assert task["constraints"] == ["no dependency"] and task["limits"]["max_steps"] == 80


def test_an_unfinished_run_shows_how_it_stands(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for event in [kinds.StageStarted(stage="intake", attempt=1), *run_parts.step(1, "intake")]:
            log.append(event)
        assert value(task_folder, "actions.yaml")["outcome"] == "running"
        assert value(task_folder, "task.yaml")["goal"] == 'Add `slugify`: "Hello World"'
        assert [entry["step"] for entry in value(task_folder, "actions.yaml")["actions"]] == [1]
        assert value(task_folder, "state.yaml")["phases"]["intake"]["steps"] == 1
        assert value(task_folder, "working_memory.yaml")["files_in_view"] == [
            {"path": "slug.py", "offset": 1, "limit": 40}
        ]
        log.append(kinds.RunInterrupted(reason="Ctrl-C"))
    assert value(task_folder, "state.yaml")["status"] == "paused"
    assert (
        value(task_folder, "actions.yaml")["outcome"] == "paused"
        and value(task_folder, "actions.yaml")["total_steps"] == 1
    )


def test_an_open_escalation_stands_in_the_repository_until_it_is_resolved(task_folder, run_parts, clock):
    shown = task_folder.parent.parent / "escalations" / f"{run_parts.run_id}.E1.yaml"
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(
            kinds.EscalationRaised(
                escalation_id="E1", stage="spec", kind="question", reason="unclear", question="Which?"
            )
        )
        pending = load(shown.read_text())
        assert pending["status"] == "pending" and pending["question"] == "Which?"
        assert pending["resolve_with"][0] == f'agentforge resolve {run_parts.run_id}.E1 --answer "TEXT" --resume'
        assert shown.read_bytes() == (task_folder / "escalations/E1.yaml").read_bytes()
        log.close()
        shown.unlink()
        rebuild(task_folder)
        assert load(shown.read_text()) == pending
    with RunLog.open(task_folder, clock=clock) as log:
        log.append(kinds.EscalationResolved(escalation_id="E1", decision="answer", text="hyphen"))
    assert not shown.exists()
    assert value(task_folder, "escalations/E1.yaml")["resolution"]["text"] == "hyphen"


def test_a_copy_of_a_run_elsewhere_writes_nothing_outside_its_folder(task_folder, tmp_path, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="question", reason="r", question="q"))
    copy = tmp_path / "bundle" / "run"
    shutil.copytree(task_folder, copy)
    rebuild(copy)
    assert [path.name for path in copy.parent.iterdir()] == ["run"]


@pytest.mark.parametrize("name", ["../../../evil", "a/b", "", ".hidden", "x" * 200])
def test_a_log_of_strangers_cannot_write_outside_the_folder(task_folder, run_parts, clock, name):
    event = kinds.EscalationRaised(escalation_id=name, stage="spec", kind="question", reason="r", question="q")
    log = RunLog.create(task_folder, run_parts.first(), clock=clock)
    with pytest.raises(IntegrityError, match="cannot name a file"), log:
        log.append(event)


def test_a_missing_blob_is_a_failure_of_the_rebuild(finished_run):
    shutil.rmtree(finished_run / "blobs")
    with pytest.raises(IntegrityError, match="missing"):
        rebuild(finished_run)


def test_a_damaged_log_keeps_the_views_that_it_has(finished_run):
    live = views_of(finished_run)
    (finished_run / LOG).write_bytes((finished_run / LOG).read_bytes().replace(b"REQ-001", b"REQ-002", 1))
    with pytest.raises(IntegrityError):
        rebuild(finished_run)
    assert views_of(finished_run) == live


def test_a_run_that_is_being_driven_is_not_rebuilt(finished_run, clock):
    with RunLog.open(finished_run, clock=clock), pytest.raises(LockedError):
        rebuild(finished_run)


def test_a_view_that_cannot_be_written_stops_the_run_but_not_the_log(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(kinds.StageStarted(stage="intake", attempt=1))
        (task_folder / "state.yaml").mkdir()
        with pytest.raises(StorageError, match=r"state\.yaml"):
            log.append(kinds.RunInterrupted(reason="x"))
        assert log.length == 3 and log.state.progress.stage == "intake"
        (task_folder / "state.yaml").rmdir()
        log.append(kinds.RunInterrupted(reason="x"))
    live = views_of(task_folder)
    rebuild(task_folder)
    assert views_of(task_folder) == live and value(task_folder, "state.yaml")["trail"]["records"] == 4


def test_the_first_request_waits_for_no_view(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(kinds.StageStarted(stage="intake", attempt=1))
        log.append(next(iter(run_parts.step(1, "intake"))))
        assert views_of(task_folder) == {}
    assert value(task_folder, "actions.yaml")["actions"] == []
    assert value(task_folder, "state.yaml")["trail"]["records"] == 3


def test_a_run_that_died_before_its_first_view_gets_them_when_it_is_opened(task_folder, run_parts, clock):
    log = RunLog.create(task_folder, run_parts.first(), clock=clock)
    log.append(kinds.StageStarted(stage="intake", attempt=1))
    log._close_descriptor()  # as a killed process: nothing is flushed
    log.close()
    assert views_of(task_folder) == {}
    RunLog.open(task_folder, clock=clock).close()
    assert value(task_folder, "state.yaml")["trail"]["records"] == 2


def test_a_step_adds_to_the_actions_and_a_long_log_is_rebuilt_in_pieces(quick_folder, run_parts):
    folder = quick_folder / "run"
    with RunLog.create(folder, run_parts.first(), clock=run_parts.clock()) as log:
        log.append(kinds.StageStarted(stage="spec", attempt=1))
        for event in run_parts.step(1, "spec"):
            log.append(event)
        inode = (folder / "actions.yaml").stat().st_ino
        for step in range(2, 251):
            for event in run_parts.step(step, "spec"):
                log.append(event)
        assert (folder / "actions.yaml").stat().st_ino == inode  # appended to, never replaced
    live = views_of(folder)
    assert live["actions.yaml"].count(b"\n- step: ") == 250
    rebuild(folder)
    assert views_of(folder) == live
