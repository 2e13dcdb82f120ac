"""A program that stays, such as a tool server, behind the same walls as a command; who starts it also ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from agentforge.errors import SandboxError
from agentforge.frozen import dataclass
from agentforge.workspace.protection.protected_paths import protected_paths_of
from agentforge.workspace.sandbox import mounts
from agentforge.workspace.sandbox.box import Automatic, Box, Sandbox, isolation
from agentforge.workspace.sandbox.bubblewrap import BoxStatus, Bubblewrap
from agentforge.workspace.sandbox.resource_limits import limited
from agentforge.workspace.sandbox.toolchain import child_environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a program is started, and what is done once it runs.

    Attributes:
        inherits: descriptors that stay open in it under the same numbers.
        started: called with its process number; may wait a moment.
    """

    argv: tuple[str, ...]
    inherits: tuple[int, ...] = ()
    started: Callable[[int], None] = lambda _pid: None


Walls = Callable[[], AbstractContextManager[Start]]
"""Opened when a program is started, closed when it has ended."""


def shut_in(sandbox: Sandbox, argv: Sequence[str], *, box: Box) -> tuple[Walls, dict[str, str]]:
    """Build what starts `argv` in a box until its standard input closes or it is killed, and its environment.

    Mounts, namespaces, the filter of system calls, limits and the control group are those of every command. Existing
    protected places of the workspace are read-only for it.

    Raises:
        SandboxError: there is no bubblewrap here.
    """
    inner = sandbox.found if isinstance(sandbox, Automatic) else sandbox
    if not isinstance(inner, Bubblewrap):
        raise SandboxError(
            "programs that stay are only shut in by bubblewrap", hint="install bubblewrap (apt install bubblewrap)"
        )
    reaches = box.network or inner.network == "on"
    environ = tuple(sorted(inner.environ.items()))
    given = mounts.arguments(box, environ=environ, hidden=inner.hidden, network=reaches)
    given += mounts.guards(box, protected_paths_of(box.workspace).look(named=box.named))
    given += ["--share-net"] if reaches else []
    env = child_environment(inner.environ, box.env)
    where = ["--chdir", str(box.mount_at / box.cwd)]
    return partial(_walls, inner.program, [*given, *where, "--", *limited(argv, env)]), env


@contextmanager
def _walls(program: str, rest: list[str]) -> Iterator[Start]:
    with BoxStatus.opened(kept_by=None) as status:
        argv = (program, *status.arguments(), *isolation(program), *rest)
        yield Start(argv=argv, inherits=status.inherited, started=status.started)


def unconfined(sandbox: Sandbox, box: Box) -> tuple[Path, dict[str, str]]:
    """Folder and environment of a program that the user lets run outside of the sandbox: still an allow-list of variables."""
    inner = sandbox.found if isinstance(sandbox, Automatic) else sandbox
    return box.workspace / box.cwd, child_environment(getattr(inner, "environ", {}), box.env)
