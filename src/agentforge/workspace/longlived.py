"""A program that stays, such as a tool server, behind the same walls as a command; who starts it also ends it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.errors import SandboxError
from agentforge.workspace.sandbox import Automatic
from agentforge.workspace.toolchain import child_environment

if TYPE_CHECKING:
    from agentforge.workspace.sandbox import Box, Sandbox


def shut_in(sandbox: Sandbox, argv: Sequence[str], *, box: Box) -> tuple[list[str], dict[str, str]]:
    """Build the command line and the environment that run `argv` in a box until its standard input closes or it is killed.

    Existing protected places of the workspace are read-only for it, as for every command.

    Raises:
        SandboxError: there is no bubblewrap here.
    """
    from agentforge.workspace import mounts
    from agentforge.workspace.bounds import limited
    from agentforge.workspace.bubblewrap import ISOLATION, Bubblewrap
    from agentforge.workspace.ward import ward_of

    inner = sandbox.found if isinstance(sandbox, Automatic) else sandbox
    if not isinstance(inner, Bubblewrap):
        raise SandboxError(
            "programs that stay are only shut in by bubblewrap", hint="install bubblewrap (apt install bubblewrap)"
        )
    reaches = box.network or inner.network == "on"
    environ = tuple(sorted(inner.environ.items()))
    given = mounts.arguments(box, environ=environ, hidden=inner.hidden, network=reaches)
    given += mounts.guards(box, ward_of(box.workspace).look(named=box.named))
    given += ["--share-net"] if reaches else []
    env = child_environment(inner.environ, box.env)
    where = ["--chdir", str(box.mount_at / box.cwd)]
    return [inner.program, *ISOLATION, *given, *where, "--", *limited(argv, env)], env


def unconfined(sandbox: Sandbox, box: Box) -> tuple[Path, dict[str, str]]:
    """Folder and environment of a program that the user lets run outside of the sandbox: still an allow-list of variables."""
    inner = sandbox.found if isinstance(sandbox, Automatic) else sandbox
    return box.workspace / box.cwd, child_environment(getattr(inner, "environ", {}), box.env)
