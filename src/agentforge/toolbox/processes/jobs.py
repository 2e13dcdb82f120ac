"""The tool jobs: the commands that shell left running in the background."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import number, text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, count_to, failed, takes
from agentforge.workspace.processes.background import BackgroundCommands, Glance

_LONGEST_WAIT_S = 600


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    commands = context.background
    if commands is None:
        raise ToolError(failed("no commands are left running here", error_type="no-background", retryable=False))
    action = text(arguments, "action")
    if action == "list":
        return _listed(commands)
    name = text(arguments, "id").strip()
    if not name:
        raise ToolError(failed(f"{action} needs an id", error_type="bad-arguments"))
    if action == "stop":
        return _told(commands.stop(name))
    wait_s = number(arguments, "timeout", default=0)
    return _told(commands.read(name, wait_s=wait_s))


def _listed(commands: BackgroundCommands) -> Observation:
    rows = [f"{one.name}: {one.command[:200]} - {state_of(one)}" for one in commands.glances()]
    running = sum(not one.outcome for one in commands.glances())
    return Observation(
        status="success", summary=f"{len(rows)} background commands, {running} run", text="\n".join(rows)
    )


def _told(one: Glance) -> Observation:
    output = one.output.decode("utf-8", "replace")
    missed = f"[{one.missed:,} bytes before this are no longer kept]\n" if one.missed else ""
    return Observation(
        status="success",
        summary=f"background command {one.name}: {state_of(one)}",
        text=missed + (output if output.strip() else "(no new output)"),
    )


def state_of(one: Glance) -> str:
    """How a command stands, in words."""
    return f"{one.outcome}, after {one.seconds:.0f} s" if one.outcome else f"runs for {one.seconds:.0f} s"


TOOL = Tool(
    name="jobs",
    description="Background commands: read gives new output (timeout: wait so many seconds for the end).",
    parameters=takes("action", action={"enum": ["list", "read", "stop"]}, id=TEXT, timeout=count_to(_LONGEST_WAIT_S)),
    effect="read",
    run=_run,
)
