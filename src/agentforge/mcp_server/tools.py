"""The tools of the server: each is what the command line does, with the same JSON.

Waiting for a task, or for work in a thread, and reporting how far it is.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypeVar

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from agentforge.app.composition import task_queries as looking
from agentforge.app.composition.run_result import escalation_row
from agentforge.app.history.comparison import compare
from agentforge.app.history.inspection import inspect_value
from agentforge.app.proof.audit import audit
from agentforge.app.proof.verification import VerifyOptions, verify
from agentforge.app.sessions.background import Job
from agentforge.app.tasks import answers
from agentforge.errors import AgentForgeError, UsageError
from agentforge.mcp_server.ground import Ground

T = TypeVar("T")
Value = dict[str, Any]

TaskId = Annotated[str, Field(description="Id of a task; the start of it is enough.")]
Seconds = Annotated[
    float, Field(ge=0, le=3600, description="Follow it so long, reporting progress; 0 = answer at once.")
]

_LOOKS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
_ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)


def add_tools(server: MCPServer[Any], ground: Ground) -> None:
    """Offer the tools; a server that only looks offers only those that look."""
    looking_tools = LookingTools(ground)
    for tool in (
        looking_tools.status,
        looking_tools.escalations,
        looking_tools.inspect,
        looking_tools.audit,
        looking_tools.verify,
        looking_tools.compare,
    ):
        server.add_tool(tool, annotations=_LOOKS)
    if not ground.read_only:
        acting_tools = ActingTools(ground)
        server.add_tool(acting_tools.start, annotations=_ACTS)
        server.add_tool(acting_tools.resolve, annotations=_ACTS)


class LookingTools:
    """What changes nothing."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def status(self, context: Context[Any, Any], task_id: str = "", follow_s: Seconds = 0.0) -> Value:
        """Tell where a task stands: outcome, stages, verdicts, branch, cost, questions. Without an id: list all tasks."""
        if task_id:
            return await _told(followed(self._ground, task_id, context, seconds=follow_s))
        return {"tasks": await _in_thread(lambda: [_row(row) for row in looking.listing(self._ground.cwd)])}

    async def escalations(self, *, answered: bool = False) -> Value:
        """List the questions that wait for a human, oldest first; with `answered` also those that were answered."""

        def found() -> list[Value]:
            rows = answers.escalations(self._ground.cwd) if answered else answers.pending(self._ground.cwd)
            return [
                {"task_id": row.task_id, "address": row.address, **escalation_row(row.item, task_id=row.task_id)}
                for row in rows
            ]

        return {"escalations": await _in_thread(found)}

    async def inspect(
        self,
        task_id: TaskId,
        step: Annotated[int, Field(ge=0, description="One step; 0 = the whole run.")] = 0,
        show: Literal["steps", "stages", "context", "action", "diff", "events", "artifact"] = "action",
    ) -> Value:
        """Look into a task: steps, stages, the exact context that was sent, calls and results, diffs, events, artifacts."""

        def found() -> object:
            return inspect_value(looking.task_folder(self._ground.cwd, task_id), step=step or None, show=show)

        return {"task_id": task_id, "show": show, "rows": await _in_thread(found)}

    async def audit(self, task_id: TaskId, form: Literal["md", "html", "json"] = "md") -> str:
        """Write one self-contained document about a task: what was asked, assumed, measured, judged and spent."""
        return await _in_thread(
            lambda: audit(looking.load(self._ground.cwd, task_id).folder, form=form).decode("utf-8")
        )

    async def verify(
        self,
        target: Annotated[str, Field(description="A task, a branch or commit, or the path of a bundle.")],
        context: Context[Any, Any],
        rerun: Annotated[bool, Field(description="Measure the facts again in fresh checkouts.")] = False,
    ) -> Value:
        """Check that a delivery is what it says: chain, digests, contracts, rules, views, anchors, signature."""
        options = VerifyOptions(target=target, cwd=self._ground.cwd, rerun=rerun)
        report = await _told(
            worked(context, lambda: verify(options, environ=self._ground.environ), doing=f"verifying {target}")
        )
        return {**report.value(), "exit_code": report.exit_code}

    async def compare(self, first: TaskId, second: TaskId) -> Value:
        """Show two tasks side by side: stages, tokens, cost, artifacts, tests, verdicts, changes."""
        return dict(await _in_thread(lambda: compare(self._ground.cwd, first, second)))


class ActingTools:
    """What starts work or decides."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def start(
        self,
        request: Annotated[str, Field(min_length=1, description="What should change, as you would tell a developer.")],
        context: Context[Any, Any],
        model: Annotated[str, Field(description="provider/name; empty = by the settings.")] = "",
        mode: Literal["autonomous", "supervised", "interactive"] = "autonomous",
        approve: Annotated[list[str], Field(description="Stages whose result waits for approval.")] = [],  # noqa: B006 # a default for the schema, never changed
        tests: Annotated[list[str], Field(description="Tests that RED takes as they are.")] = [],  # noqa: B006
        base: Annotated[str, Field(description="Start from this revision; empty = HEAD.")] = "",
        limits: Annotated[
            dict[str, str], Field(description="max_steps, budget_tokens, budget_usd, deadline (5m, 1h).")
        ] = {},  # noqa: B006
        follow_s: Seconds = 0.0,
    ) -> Value:
        """Turn a request into a verified branch. The task goes on by itself; ask for it with `status`.

        The work happens in a worktree of its own: the user's checkout stays untouched.
        """
        flags = _start_flags(model=model, mode=mode, approve=approve, tests=tests, base=base, limits=limits)

        async def begun() -> Value:
            job = await run_sync(lambda: self._ground.begin(("start", *flags, "--", request), title=request[:60]))
            task_id = await task_of(job)
            if not task_id:
                told = job.line
                raise UsageError(
                    told.error or "the task could not be started", hint=told.hint or "see `agentforge doctor`"
                )
            return await followed(self._ground, task_id, context, seconds=follow_s)

        return await _told(begun())

    async def resolve(
        self,
        address: Annotated[str, Field(description="TASK.E1 as `escalations` tells it.")],
        decision: Literal["answer", "approve", "reject", "abort"],
        context: Context[Any, Any],
        text: Annotated[str, Field(description="The answer, or the reason of a rejection.")] = "",
        resume: Annotated[bool, Field(description="Go on with the task.")] = True,
        follow_s: Seconds = 0.0,
    ) -> Value:
        """Record a decision on a question that waits for a human, and go on with the task."""

        async def resolved() -> Value:
            result = await run_sync(lambda: self._record(address, decision, text, _client_of(context)))
            task_id = result.state.identity.run_id
            if resume:
                job = await run_sync(lambda: self._ground.begin(("resume", task_id), title=task_id))
                await taken_up(self._ground, job, task_id)
            return await followed(self._ground, task_id, context, seconds=follow_s)

        return await _told(resolved())

    def _record(self, address: str, decision: Any, text: str, client: str) -> Any:
        if decision == "reject" and not text.strip():
            raise UsageError("a rejection needs a reason", hint="say in `text` what is wrong")
        self._ground.demand_write()
        by = f"{self._ground.user} by {client}" if client else self._ground.user
        return answers.resolve(
            self._ground.cwd, address, decision=decision, text=text, by=by, settings=self._ground.settings()
        )


_LIMITS = ("max_steps", "budget_tokens", "budget_usd", "deadline")


def _start_flags(
    *, model: str, mode: str, approve: list[str], tests: list[str], base: str, limits: dict[str, str]
) -> list[str]:
    """The arguments as flags of the command line.

    Raises:
        ToolError: a limit that does not exist.
    """
    unknown = [name for name in limits if name not in _LIMITS]
    if unknown:
        raise ToolError(f"there is no limit {unknown[0]!r}; one of {', '.join(_LIMITS)}")
    flags = [f"--model={model}"] if model else []
    flags += [f"--{mode}"] if mode != "autonomous" else []
    flags += [f"--approve={stage}" for stage in approve]
    flags += [f"--tests={path}" for path in tests]
    flags += [f"--base={base}"] if base else []
    return [*flags, *(f"--{name.replace('_', '-')}={value}" for name, value in limits.items())]


def _client_of(context: Context[Any, Any]) -> str:
    """What the program at the other end calls itself."""
    known = context.session.client_params
    return str(known.client_info.name)[:60] if known is not None else ""


def _row(row: Any) -> Value:
    return {**asdict(row), "folder": str(row.folder)}


async def _in_thread(work: Callable[[], T]) -> T:
    """Do blocking work."""
    return await _told(run_sync(work))


async def _told(work: Awaitable[T]) -> T:
    """Await; what the caller can mend is told as the tool's error."""
    try:
        return await work
    except AgentForgeError as error:
        raise ToolError(f"{error.slug}: {error}") from error


_POLL_S = 0.25
_HEARTBEAT_S = 1.0
_WHOLE = 100.0


async def task_of(job: Job) -> str:
    """The id of the task that a process began, "" when it ended without one."""
    while not job.line.task_id and not job.look().outcome:
        await anyio.sleep(_POLL_S)
    return job.line.task_id


async def taken_up(ground: Ground, job: Job, task_id: str) -> None:
    """Wait until a process drives the task that it was begun for, or has ended already."""
    while not job.look().outcome and not await run_sync(lambda: ground.look(task_id).running):
        await anyio.sleep(_POLL_S)


async def followed(ground: Ground, task_id: str, context: Context[Any, Any], *, seconds: float) -> dict[str, Any]:
    """Report a task's progress until it ends, waits for somebody, or the time is over; then tell where it stands."""
    value: dict[str, Any] = await run_sync(ground.value, task_id)
    await context.report_progress(float(value["progress"]), _WHOLE, _words(value))
    size, end = -1, time.monotonic() + seconds
    while value["outcome"] == "running" and time.monotonic() < end:
        now = await run_sync(ground.size, task_id)
        if now == size and await run_sync(lambda: ground.look(task_id).running):
            await anyio.sleep(_POLL_S)
            continue
        size, value = now, await run_sync(ground.value, task_id)
        await context.report_progress(float(value["progress"]), _WHOLE, _words(value))
    return value


async def worked(context: Context[Any, Any], work: Callable[[], T], *, doing: str) -> T:
    """Do something long in a thread, with a sign of life every second.

    Raises:
        AgentForgeError: what `work` raises.
    """
    began = time.monotonic()

    async def beat() -> None:
        while True:
            await anyio.sleep(_HEARTBEAT_S)
            passed = time.monotonic() - began
            await context.report_progress(passed, None, f"{doing}: {passed:.0f} s")

    failed: AgentForgeError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        try:
            result = await run_sync(work)
        except AgentForgeError as error:  # a group would wrap it
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return result


def _words(value: dict[str, Any]) -> str:
    return f"{value['stage'] or 'starting'}: {value['steps']} steps, {value['outcome']}"
