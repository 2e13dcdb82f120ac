"""What every tool of the server stands on: the repository, the environment, who may change what, processes that were begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from agentforge.app.composition import task_queries as looking
from agentforge.app.composition.run_result import RunResult, result_value
from agentforge.app.sessions.background import Job
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings, load
from agentforge.errors import ConflictError
from agentforge.frozen import dataclass
from agentforge.store.log.reader import LOG


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """One repository that is served.

    Attributes:
        cwd: any folder of it.
        read_only: nothing is started or answered.
        user: under whose name decisions are recorded.
    """

    cwd: Path
    environ: Mapping[str, str]
    user: str
    read_only: bool = False

    def settings(self) -> Settings:
        """The settings as they are now."""
        return load(self.cwd, self.environ)

    def look(self, task_id: str) -> RunResult:
        """Read a task.

        Raises:
            UsageError: there is no such task.
        """
        return looking.load(self.cwd, task_id)

    def value(self, task_id: str) -> dict[str, Any]:
        """Where a task stands, as `agentforge status ID --json` tells it, and where its documents are."""
        result = self.look(task_id)
        return {**result_value(result), "resources": resource_names(result)}

    def size(self, task_id: str) -> int:
        """Bytes of a task's log: it changes with everything that happens.

        Raises:
            UsageError: there is no such task.
        """
        return (looking.task_folder(self.cwd, task_id) / LOG).stat().st_size

    def begin(self, arguments: Sequence[str], *, title: str) -> Job:
        """Start `agentforge start` or `resume` as a process that outlives this one.

        Raises:
            ConflictError: the server only looks.
        Side effects: its output goes to a file in the data directory.
        """
        self.demand_write()
        output = data_dir(self.environ) / "handed-over" / f"{uuid4().hex}.jsonl"
        command = (arguments[0], "--cwd", str(self.cwd), *arguments[1:])
        return Job(command, title=title, cwd=self.cwd, output=output)

    def demand_write(self) -> None:
        """Refuse what a server that only looks does not do.

        Raises:
            ConflictError: it only looks.
        """
        if self.read_only:
            raise ConflictError("this server was started with --read-only", hint="start it without, or use the CLI")


def resource_names(result: RunResult) -> list[str]:
    """The addresses under which a task's documents are read."""
    task = result.state.identity.run_id
    artifacts = [f"agentforge://{task}/artifacts/{stage}" for stage in result.state.work.artifacts]
    return [f"agentforge://{task}/{name}" for name in ("state", "trail", "audit", "diff")] + artifacts
