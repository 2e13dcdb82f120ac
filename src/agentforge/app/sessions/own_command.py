"""`!command`: a command line that the person runs themselves, in their own shell, and shows to the model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentforge.app.sessions.foreign_text import fit_for_model
from agentforge.events.kinds import UserRan
from agentforge.safety.text.hygiene import clean
from agentforge.workspace.processes.process import overheard, run

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

_LONGEST_S = 3600.0
_SHELL = "/bin/sh"


def run_own(workshop: Workshop, command: str) -> UserRan:
    """Run a command line as the person's own shell would, outside of the sandbox: it was not the model that wanted it.

    Returns:
        What came of it, fit for the model: cleaned, without secrets, fenced, cut as every result of a tool.
    Raises:
        ToolchainError: the shell cannot be started.
        KeyboardInterrupt: the person stopped it; its processes are killed.
    Side effects: whatever the command does; a face that hears output is told it as it comes.
    """
    shell = workshop.environ.get("SHELL") or _SHELL
    listener = workshop.shed.output
    with overheard(listener if listener is not None else lambda _piece: None):
        done = run([shell, "-c", command], cwd=workshop.root, env=os.environ, timeout_s=_LONGEST_S)
    omitted = f"\n({done.omitted_bytes:,} bytes of output omitted)" if done.omitted_bytes else ""
    output = done.text.rstrip("\n") or "(no output)"
    return UserRan(
        command=workshop.scrubbed(clean(command)),
        output=fit_for_model(workshop, output + omitted),
        exit_code=done.exit_code,
        duration_ms=int(done.duration_s * 1000),
    )
