"""Documents of tasks under `agentforge://TASK/...`: state, trail, audit, diff, artifacts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio.to_thread import run_sync
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from agentforge.app.composition import task_queries as looking
from agentforge.app.history.inspection import inspect_text
from agentforge.app.proof.audit import audit as document
from agentforge.canonical import canonical_bytes
from agentforge.errors import AgentForgeError, RepositoryError, UsageError
from agentforge.mcp_server.ground import Ground, resource_names

_LISTED_TASKS = 50
_KINDS = {"state": "application/json", "trail": "application/jsonl", "audit": "text/markdown", "diff": "text/x-diff"}


class TaskServer(MCPServer[Any]):
    """A server whose list of resources is the tasks of the repository as they are now."""

    def __init__(self, ground: Ground, *, version: str, instructions: str) -> None:
        super().__init__(
            "agentforge", title="AgentForge", version=version, instructions=instructions, log_level="ERROR"
        )
        self._ground = ground

    async def list_resources(self) -> list[Resource]:
        """Name the documents of the newest tasks."""
        return await run_sync(self._listed)

    def _listed(self) -> list[Resource]:
        try:
            rows = looking.listing(self._ground.cwd)
        except RepositoryError:
            return []
        found = [self._ground.look(row.task_id) for row in rows[:_LISTED_TASKS] if row.outcome != "damaged"]
        return [
            Resource(
                uri=name,
                name=name.removeprefix("agentforge://"),
                mime_type=_mime(name),
                title=result.state.brief.request[:80],
            )
            for result in found
            for name in resource_names(result)
        ]


def add_resources(server: MCPServer[Any], ground: Ground) -> None:
    """Offer the documents of every task."""

    async def state(task: str) -> str:
        return await _read(lambda: canonical_bytes(ground.value(task)).decode("utf-8"))

    async def trail(task: str) -> str:
        return await _read(lambda: (_folder(ground, task) / "events.jsonl").read_text("utf-8"))

    async def audit(task: str) -> str:
        return await _read(lambda: document(_folder(ground, task), form="md").decode("utf-8"))

    async def diff(task: str) -> str:
        return await _read(lambda: inspect_text(_folder(ground, task), step=None, show="diff"))

    async def artifact(task: str, stage: str) -> str:
        return await _read(lambda: _artifact(ground, task, stage))

    told = {
        "state": (state, "Where the task stands, as JSON."),
        "trail": (trail, "Every event of the task, one JSON line each, in a hash chain."),
        "audit": (audit, "One document about the task."),
        "diff": (diff, "What every step changed."),
    }
    for name, (read, words) in told.items():
        server.resource(f"agentforge://{{task}}/{name}", name=name, description=words, mime_type=_KINDS[name])(read)
    server.resource(
        "agentforge://{task}/artifacts/{stage}",
        name="artifact",
        description="The verified artifact of a stage, as JSON.",
        mime_type="application/json",
    )(artifact)


def _artifact(ground: Ground, task: str, stage: str) -> str:
    found = ground.look(task).state.work.artifacts
    if stage not in found:
        raise UsageError(f"{task} has no artifact of {stage!r}", hint=f"one of {', '.join(found) or 'none yet'}")
    return canonical_bytes(found[stage]).decode("utf-8")


def _folder(ground: Ground, task: str) -> Any:
    return looking.task_folder(ground.cwd, task)


def _mime(name: str) -> str:
    return _KINDS.get(name.rpartition("/")[2], "application/json")


async def _read(work: Callable[[], str]) -> str:
    try:
        return await run_sync(work)
    except UsageError as error:
        raise ResourceNotFoundError(str(error)) from error
    except (AgentForgeError, OSError) as error:
        raise ResourceError(str(error)) from error
