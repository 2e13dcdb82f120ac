"""Tasks of the pipeline that a conversation starts: each a process of its own, which goes on when the conversation ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentforge.frozen import dataclass

_TAIL = 400
_PATIENCE_S = 20.0
_SAID = {"escalated": "has a question for you: /resolve", "delivered": "delivered: /tasks shows what came of it"}
_TASKS = "tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """Where a task stands.

    Attributes:
        task_id: "" until it has one.
        outcome: "" while it goes on, else as in the result of `agentforge start`.
        error: why there is no task, and `hint` what to do about it.
    """

    title: str
    task_id: str = ""
    stage: str = ""
    step: int = 0
    outcome: str = ""
    error: str = ""
    hint: str = ""

    @property
    def text(self) -> str:
        """As one line."""
        where = f"{self.stage} step {self.step}" if self.stage else "starting"
        outcome = _SAID.get(self.outcome, self.outcome)
        end = f"{outcome}{': ' + self.error if self.error else ''}"
        return f"{self.task_id or self.title} · {end if self.outcome else where}"


def recorded_lines(folder: Path) -> list[JobLine]:
    """Where the tasks stood that a session started, as far as their processes told it, the oldest first; also those of processes
    before this one.

    Args:
        folder: of the session.
    """
    files = sorted((folder / _TASKS).glob("*.jsonl"), key=lambda file: int(file.stem) if file.stem.isdecimal() else 0)
    return [_read(file) for file in files]


def next_output(folder: Path) -> Path:
    """The file for the events of the next task that a session starts."""
    taken = [int(file.stem) for file in (folder / _TASKS).glob("*.jsonl") if file.stem.isdecimal()]
    return folder / _TASKS / f"{max(taken, default=0) + 1}.jsonl"


def _read(file: Path) -> JobLine:
    line = JobLine(title="")
    for row in file.read_bytes().rpartition(b"\n")[0].splitlines():
        value = json.loads(row)
        line = _after(line, value)
        if value.get("type") == "RunStarted":
            line = _changed(line, title=str((value.get("data") or {}).get("request", "")))
    complaint = file.with_suffix(".err")
    if not line.task_id and not line.outcome and complaint.is_file():
        line = _changed(line, error=complaint.read_text("utf-8", "replace").strip()[-_TAIL:])
    return line


class Job:
    """One `agentforge start` or `resume` in the background; its stream of events goes to a file.

    Args:
        arguments: of the command line, the command first.
    Side effects: starts the process, in a session of its own.
    """

    def __init__(self, arguments: Sequence[str], *, title: str, cwd: Path, output: Path) -> None:
        self.title = title
        self.line = JobLine(title=title)
        self._output = output
        self._offset = 0
        output.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with output.open("wb") as stream, output.with_suffix(".err").open("wb") as complaints:
            output.chmod(0o600)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "agentforge", arguments[0], "--output-format", "stream-json", *arguments[1:]],
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=complaints,
                start_new_session=True,
                env={**os.environ},
            )

    def look(self) -> JobLine:
        """Read what was written since the last look."""
        code = self.process.poll()
        with self._output.open("rb") as stream:
            stream.seek(self._offset)
            data = stream.read()
        whole, _, _ = data.rpartition(b"\n")
        self._offset += len(whole) + (1 if whole else 0)
        for row in whole.splitlines():
            self.line = _after(self.line, json.loads(row))
        if code is not None and not self.line.outcome:
            self.line = _changed(self.line, outcome="failed", error=self._complaint() or f"exit code {code}")
        return self.line

    def stop(self) -> None:
        """End it as Ctrl-C would, its children too; the task can be resumed."""
        self.process.terminate()
        try:
            self.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _complaint(self) -> str:
        text = self._output.with_suffix(".err").read_text("utf-8", "replace").strip()
        return text[-_TAIL:]


def _after(line: JobLine, value: dict[str, Any]) -> JobLine:
    kind, data = value.get("type"), value.get("data") or {}
    if kind == "result":
        error = value.get("error") or {}
        return _changed(
            line,
            outcome=str(value.get("outcome", "")),
            error=error.get("message", ""),
            hint=error.get("hint") or "",
            task_id=value.get("task_id") or line.task_id,
        )
    task_id = data.get("run_id", "") if kind == "RunStarted" else ""
    return _changed(
        line,
        task_id=task_id or line.task_id,
        stage=value.get("stage") or line.stage,
        step=value.get("step") or line.step,
    )


def _changed(line: JobLine, **changes: Any) -> JobLine:
    return replace(line, **changes)
