"""The tool shell: one command in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import number, text
from agentforge.tools.base import COUNT, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes

if TYPE_CHECKING:
    from agentforge.workspace.process import Completed

_TIMEOUT_S = 120
_LONGEST_TIMEOUT_S = 600


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    command = text(arguments, "command")
    folder = _files.existing(context, text(arguments, "cwd", default="."))
    if not folder.is_dir():
        raise ToolError(failed(f"cwd {text(arguments, 'cwd')} is no folder", error_type="bad-arguments"))
    longest = context.limits.get("shell_timeout_s", _LONGEST_TIMEOUT_S)
    timeout_s = min(longest, number(arguments, "timeout", default=_TIMEOUT_S))
    done = context.run_command(command, timeout_s=timeout_s, cwd=_files.shown(context, folder))
    return _observed(done, timeout_s=timeout_s)


def _observed(done: Completed, *, timeout_s: int) -> Observation:
    cut = f"; {done.omitted_bytes:,} bytes of output omitted" if done.omitted_bytes else ""
    output = done.text if done.text.strip() else "(no output)"
    if done.timed_out:
        return failed(
            f"stopped after {timeout_s} s{cut}",
            error_type="timeout",
            text=output,
            next_actions=("run a smaller part, or give a longer timeout (seconds)",),
        )
    summary = f"exit {done.exit_code} in {done.duration_s:.1f} s{cut}"
    if done.exit_code:
        return failed(summary, error_type="exit-code", text=output)
    return Observation(status="success", summary=summary, text=output)


TOOL = Tool(
    name="shell",
    description="Run a bash command in the sandbox (no network); timeout in seconds.",
    parameters=takes("command", command=TEXT, timeout=COUNT, cwd=TEXT),
    effect="execute",
    command=lambda arguments: (text(arguments, "command"), text(arguments, "cwd", default=".")),
    run=_run,
)
