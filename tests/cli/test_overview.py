"""`status --all` in the form of the specification."""

from __future__ import annotations

from pathlib import Path

from agentforge.app.intake.repositories import RepositoryRow
from agentforge.cli.output.overview import overview_lines
from agentforge.config.repositories import Repository
from agentforge.events import kinds
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import TaskRow, task_row, tasks_folder

WANTED = """\
backend-service:  IN_PROGRESS (stage: green, 60%)
api-gateway:      DELIVERED ✓
data-layer:       ESCALATED (needs clarification)
"""


def row(name: str, *tasks: TaskRow) -> RepositoryRow:
    return RepositoryRow(entry=Repository(name=name, path=Path("/r") / name), tasks=tasks)


def task(name: str, outcome: str, **more: object) -> TaskRow:
    return TaskRow(task_id=name, folder=Path("/r/none"), outcome=outcome, **more)  # type: ignore[arg-type] # the fields of a row


def asking(repo: Path) -> TaskRow:
    folder = tasks_folder(repo) / "task-ask"
    first = kinds.RunStarted(kind="task", run_id="task-ask", request="r", repo=str(repo), base_commit="b" * 40)
    asked = kinds.EscalationRaised(escalation_id="E1", stage="", kind="question", reason="unclear", question="Which?")
    with RunLog.create(folder, first, clock=lambda: "2026-01-01T10:00:00.000000Z") as log:
        log.append(asked)
    return task_row(folder)


def test_every_repository_has_a_line_that_says_how_it_stands(tmp_path: Path) -> None:
    rows = [
        row("backend-service", task("a", "running", stage="green", progress=60)),
        row("api-gateway", task("b", "delivered")),
        row("data-layer", asking(tmp_path)),
    ]
    assert "".join(f"{line}\n" for line in overview_lines(rows)) == WANTED


def test_a_waiting_task_names_what_it_waits_for() -> None:
    keys = ("task:data-layer:task-xyz:deliver", "artifact:data-layer:user_events_schema:>=1.2.0")
    lines = overview_lines([row("app", task("a", "waiting", waits_for=keys, progress=25)), row("none")])
    assert lines == [
        "app:   WAITING (for data-layer/task-xyz: deliver, data-layer: user_events_schema >=1.2.0, 25%)",
        "none:  no tasks yet",
    ]


def test_a_plan_is_listed_while_a_part_is_under_way() -> None:
    parts = ({"repo": "app", "path": "/r/app", "task_id": "a"}, {"repo": "gone", "path": "/r/gone", "task_id": "g"})
    plan = task("p", "analyzed", parts=parts)
    assert overview_lines([row("app", task("a", "delivered"), plan)])[-1] == "plan p: app DELIVERED ✓; gone MISSING"
    over = task("p", "analyzed", parts=parts[:1])
    assert len(overview_lines([row("app", task("a", "delivered"), over)])) == 1
