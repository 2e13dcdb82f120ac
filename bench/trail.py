"""How the trail behaves when it is long: a run of 100,000 records, and 1,000 tasks in one repository.

The records are those of real steps (request, reply, call, result, end), written by the store's own functions and chained;
only the syncs are left out while the log is made. Measured are the program's own commands and the store's own append.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from agentforge.canonical import canonical_bytes
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import encode, state_digest
from agentforge.store.blobs import Blobs
from agentforge.store.log.reader import LOG
from agentforge.store.log.records import GENESIS, read_line, utc_now, write_line
from agentforge.store.log.run_log import RunLog
from agentforge.store.log.snapshot import EVERY
from bench.processes import cpu_of
from bench.scenes import environment

_AGENTFORGE = str(Path(sys.executable).with_name("agentforge"))
_APPENDS = 300
_SENTENCE = "The module holds the functions that the request speaks of, and the tests that prove them. "


def trail_rows(folder: Path, *, records: int, tasks: int) -> list[tuple[str, str, dict[str, float | str]]]:
    """The rows of the table: (figure, limit, value by program)."""
    repository = make_repository(folder / "long")
    run = repository / ".agentforge" / "tasks" / "task-20260101-long"
    steps = write_run(run, repository, records=records)
    first = open_s(run)
    again = min(open_s(run) for _ in range(3))
    home = folder / "home"
    env = environment(home)

    def command(*arguments: str, cwd: Path = repository) -> float:
        return min(cpu_of((_AGENTFORGE, *arguments, "--cwd", str(cwd)), env=env, cwd=home) for _ in range(3))

    late = command("inspect", run.name, "--step", str(steps - 1), "--show", "context")
    status = command("status", run.name)
    short = repository / ".agentforge" / "tasks" / "task-20260101-short"
    write_run(short, repository, records=30)
    begin_ms, end_ms = append_ms(short), append_ms(run)
    many = many_tasks(folder / "many", short, tasks=tasks)
    listing = command("status", cwd=many)
    mine = "AgentForge"
    return [
        (f"open a run of {records} records, CPU s", "1", {mine: again}),
        ("  without views and snapshot", "", {mine: first}),
        ("  status of it, CPU s", "1", {mine: status}),
        ("  inspect its last step but one, CPU s", "0.3", {mine: late}),
        ("append there, CPU ms", "", {mine: end_ms}),
        ("  against a log of 30 records", "1.3", {mine: end_ms / begin_ms}),
        (f"status of {tasks} tasks, CPU s", "0.3", {mine: listing}),
    ]


def write_run(folder: Path, repository: Path, *, records: int) -> int:
    """Write the log of an unfinished run with many steps.

    Returns:
        The number of its last step.
    """
    folder.mkdir(parents=True)
    blobs = Blobs(folder / "blobs")
    head, fence, at = GENESIS, 1, utc_now()
    request = blobs.put(canonical_bytes({"messages": _messages(), "tools": [], "temperature": None}))
    events: list[kinds.Event] = [
        kinds.RunStarted(
            kind="task", run_id=folder.name, request=_SENTENCE, repo=str(repository), base_commit="0" * 40
        ),
        kinds.StageStarted(stage="analyze", attempt=1),
    ]
    step = seq = sealed = 0
    state = RunState()
    with (folder / LOG).open("wb") as log:
        while seq < records:
            if not events and seq - sealed >= EVERY and state.review.submission is None:
                events, sealed = [kinds.StateSealed(digest=state_digest(state))], seq + 1
            if not events:
                step += 1
                events = _step(step, request)
            seq += 1
            name, data = encode(events.pop(0))
            line = write_line(name, data, seq=seq, at=at, fence=fence, prev=head)
            record = read_line(line, seq=seq, prev=head, fence=fence)
            head, state = record.hash, evolve(state, record.event, at=at)
            log.write(line)
    return step


def open_s(folder: Path) -> float:
    """CPU seconds of opening a run as its writer and closing it."""
    began = time.process_time()
    RunLog.open(folder, clock=utc_now).close()
    return time.process_time() - began


def append_ms(folder: Path) -> float:
    """Own CPU milliseconds of one record, its views included; the best of three."""
    best = float("inf")
    with RunLog.open(folder, clock=utc_now) as log:
        for _ in range(3):
            step, request = log.state.progress.turn.step, "0" * 64
            events = [event for number in range(_APPENDS // 5) for event in _step(step + 1 + number, request)]
            began = time.process_time()
            for event in events:
                log.append(event)
            best = min(best, (time.process_time() - began) * 1000 / len(events))
    return best


def many_tasks(folder: Path, run: Path, *, tasks: int) -> Path:
    """A repository with many tasks, all with views, half of them as a killed process left them."""
    repository = make_repository(folder)
    for number in range(tasks):
        copy = repository / ".agentforge" / "tasks" / f"task-20260101-number-{number}"
        copy.mkdir(parents=True)
        for name in (LOG, "views.json", "state.yaml", *(("lease",) if number % 2 else ())):
            shutil.copyfile(run / name, copy / name)
    return repository


def make_repository(folder: Path) -> Path:
    """A repository with one empty commit."""
    folder.mkdir(parents=True)
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for arguments in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "begin")):
        subprocess.run(("git", *arguments), cwd=folder, check=True)
    return folder


def _messages() -> list[dict[str, object]]:
    return [{"role": role, "parts": [{"text": _SENTENCE * 100, "stable": True}]} for role in ("system", "user")]


def _step(step: int, request: str) -> list[kinds.Event]:
    call = {"call_id": f"call_{step}", "name": "read_file", "arguments": f'{{"path": "src/module_{step % 20}.py"}}'}
    usage = {"prompt_tokens": 3000, "completion_tokens": 60, "cached_tokens": 1000, "cache_write_tokens": 0}
    return [
        kinds.ModelCalled(step=step, stage="analyze", attempt=1, model="x/y", request=request, context_tokens=3000),
        kinds.ModelReplied(
            step=step, text=_SENTENCE, tool_calls=(call,), finish="tool_calls", usage=usage, model="x/y", cost_usd=0.01
        ),
        kinds.ToolStarted(
            step=step, index=0, call_id=f"call_{step}", name="read_file", arguments={"path": "a"}, effect="read"
        ),
        kinds.ToolFinished(
            step=step, index=0, call_id=f"call_{step}", name="read_file", status="success", summary="60 lines",
            text=_SENTENCE * 8, view={"path": f"src/module_{step % 20}.py", "offset": step % 200, "limit": 60},
            result=f"{step:016d}",
        ),
        kinds.StepFinished(step=step, stage="analyze", summary="read_file: 60 lines"),
    ]  # fmt: skip
