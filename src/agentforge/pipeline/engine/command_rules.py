"""Command rules of a contract: run in the sandbox on the workspace, judged by their exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.contracts.contract import CommandResult
from agentforge.pipeline.model.runtime import Runtime
from agentforge.workspace.sandbox.box import Box

if TYPE_CHECKING:
    from agentforge.contracts.contract import Contract

_TIMEOUT_S = 600.0


def command_results(contract: Contract, runtime: Runtime) -> list[CommandResult]:
    """Run every command that the contract names; a read-only workspace, no network."""

    results = []
    for command in contract.commands:
        box = Box(workspace=runtime.worktree, mount_at=runtime.repo, writable=False)
        done = runtime.sandbox.run(["bash", "-c", command], box=box, timeout_s=_TIMEOUT_S)
        results.append(CommandResult(command=command, exit_code=done.exit_code, output=done.text))
    return results
