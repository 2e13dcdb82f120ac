"""Run a command where it can reach the workspace and little else. What may run is decided elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, Protocol, Unpack

from agentforge.errors import SandboxError
from agentforge.frozen import dataclass
from agentforge.workspace.processes import process
from agentforge.workspace.processes.process import Bounds, Completed
from agentforge.workspace.sandbox.loopback import SharedLoopback
from agentforge.workspace.sandbox.toolchain import child_environment

Kind = Literal["bubblewrap", "landlock", "none"]
Preference = Literal["auto", "bubblewrap", "landlock", "none"]
Network = Literal["off", "on"] | tuple[str, ...]
"""What commands may reach: nothing but a private loopback, everything, or the hosts that are listed (see `hostlist`)."""

# As root bubblewrap keeps every capability of the new user namespace, and with them remounting: drop them by name.
ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_NO_NESTING = ("--unshare-user", "--disable-userns")  # bubblewrap 0.8 and newer

_INSTALL_HINT = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or choose the sandbox `none`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What one command sees.

    Attributes:
        workspace: the folder on this machine that the command works in.
        mount_at: where the command finds it: the user's repository path, so that editable installs and absolute paths
            behave as the user has them. Absolute; it may but need not exist.
        cwd: starting folder, relative to `mount_at`.
        writable: whether the workspace may be changed.
        network: whether the machine's network is reachable though the sandbox's own setting is "off"; a private loopback
            is always there.
        env: variables on top of the allow-list.
        read_only: more paths to show; one inside `mount_at` names the workspace's own file and protects it.
        writable_paths: the same, writable; one inside `mount_at` opens a place of a workspace that is not writable.
        overlays: (source, destination) bound read-only over everything else, such as the user's `.venv` inside
            `mount_at`. A missing destination folder is made in the workspace before.
        hidden: folders that the command must not see, such as the data directory when it lies outside the home.
        interpreters: executables whose installation must stay visible though it lies below the home.
        named: paths of the workspace that may be written although they steer tools (CI files, `.envrc`), because the
            specification names them; nothing opens `.git` and `.agentforge`.
        lasting: it goes on while others work in the workspace: protected places that came meanwhile may be theirs and are
            not removed when it ends.
        loopback: the private network that it shares with other boxes; a lasting one gives its own to those that follow.
    """

    workspace: Path
    mount_at: Path
    cwd: str = "."
    writable: bool = True
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    writable_paths: tuple[Path, ...] = ()
    overlays: tuple[tuple[Path, Path], ...] = ()
    hidden: tuple[Path, ...] = ()
    interpreters: tuple[Path, ...] = ()
    named: tuple[str, ...] = ()
    lasting: bool = False
    loopback: SharedLoopback | None = None

    @property
    def opened(self) -> tuple[Path, ...]:
        """The places inside the workspace that may be changed though the workspace may not."""
        return () if self.writable else tuple(p for p in self.writable_paths if p.is_relative_to(self.mount_at))

    @property
    def changes_workspace(self) -> bool:
        """Whether anything of the workspace may be changed: then its protected places are guarded."""
        return self.writable or bool(self.opened)


class Sandbox(Protocol):
    """A way to run commands apart from the rest of the machine."""

    @property
    def kind(self) -> Kind:
        """What stands between the command and the machine."""

    @property
    def network(self) -> Network:
        """What commands may reach."""

    def run(self, argv: Sequence[str], *, box: Box, **bounds: Unpack[Bounds]) -> Completed:
        """Run `argv` in `box`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unconfined:
    """No sandbox: the command runs in the workspace itself, as the user, with a cleared environment and its own group.

    Read-only workspaces, overlays and the closed network cannot be had this way; callers ask `kind` and say so.
    """

    environ: Mapping[str, str]
    network: Network = "on"
    kind: Kind = "none"

    def run(self, argv: Sequence[str], *, box: Box, **bounds: Unpack[Bounds]) -> Completed:
        """Run `argv` in the workspace folder.

        Raises:
            ToolchainError: the command cannot be started.
        """
        env = child_environment(self.environ, box.env)
        return process.run(argv, cwd=box.workspace / box.cwd, env=env, **bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Automatic:
    """Bubblewrap where it works, else no sandbox; found out when it is first needed, because trying costs a process."""

    environ: Mapping[str, str]
    network: Network = "off"
    hidden: tuple[Path, ...] = ()
    only_landlock: bool = False

    @property
    def kind(self) -> Kind:
        """What stands between the command and the machine."""
        return self.found.kind

    def run(self, argv: Sequence[str], *, box: Box, **bounds: Unpack[Bounds]) -> Completed:
        """Run `argv` in what was found."""
        return self.found.run(argv, box=box, **bounds)

    @property
    def found(self) -> Sandbox:
        """What it turned out to be."""
        return _detected(tuple(sorted(self.environ.items())), self.network, self.hidden, self.only_landlock)


def choose(
    prefer: Preference,
    environ: Mapping[str, str] | None = None,
    *,
    network: Network = "off",
    hidden: tuple[Path, ...] = (),
) -> Sandbox:
    """Find the sandbox that the settings ask for.

    Args:
        prefer: "auto" takes bubblewrap where it works, else Landlock; `kind` of the result tells which it was.
        environ: the user's environment; None is that of this process.
        network: what commands may reach.
        hidden: folders that no command may see, such as the data directory.
    Raises:
        SandboxError: the sandbox that was asked for does not work here.
    """
    environ = dict(os.environ if environ is None else environ)
    if prefer == "none":
        return Unconfined(environ=environ)
    if prefer == "bubblewrap" and missing_because(environ):
        raise SandboxError(f"bubblewrap cannot be used: {missing_because(environ)}", hint=_INSTALL_HINT)
    if prefer == "landlock" and landlock_missing_because():
        raise SandboxError(f"Landlock cannot be used: {landlock_missing_because()}", hint=_INSTALL_HINT)
    return Automatic(environ=environ, network=network, hidden=hidden, only_landlock=prefer == "landlock")


def detect(environ: Mapping[str, str]) -> Sandbox:
    """Return bubblewrap when it works on this machine, else Landlock, else no sandbox. Probed once per process."""
    return _detected(tuple(sorted(environ.items())), "off", (), False)


@lru_cache(maxsize=8)
def _detected(
    environ: tuple[tuple[str, str], ...],
    network: Network,
    hidden: tuple[Path, ...],
    only_landlock: bool,  # a key of the cache
) -> Sandbox:
    known = dict(environ)
    program = _program(known)
    if program is not None and not only_landlock and not _probe(program):
        from agentforge.workspace.sandbox.bubblewrap import Bubblewrap

        return Bubblewrap(program=program, environ=known, network=network, hidden=hidden)
    if not landlock_missing_because():
        from agentforge.workspace.sandbox.landlock import Landlocked

        return Landlocked(environ=known, network=network)
    return Unconfined(environ=known)


def landlock_missing_because() -> str:
    """Say in words why Landlock cannot be used here; empty when it can."""
    from agentforge.workspace.sandbox.landlock import missing_because as missing

    return missing()


def missing_because(environ: Mapping[str, str]) -> str:
    """Say in words why bubblewrap cannot be used here; empty when it can."""
    program = _program(environ)
    return "bwrap is not on PATH" if program is None else _probe(program)


def _program(environ: Mapping[str, str]) -> str | None:
    return shutil.which("bwrap", path=environ.get("PATH"))


def isolation(program: str) -> tuple[str, ...]:
    """The walls that this bubblewrap can build: no user namespace inside, where it can forbid that."""
    return _walls(program)[0]


def forbids_nesting(environ: Mapping[str, str]) -> bool:
    """Whether the bubblewrap of this machine can itself forbid user namespaces inside; else the filter alone holds them."""
    program = _program(environ)
    return program is not None and set(_NO_NESTING) <= set(isolation(program))


def _probe(program: str) -> str:
    """What bubblewrap complains about when `true` is run the way that commands are run; empty when nothing."""
    return _walls(program)[1]


@cache
def _walls(program: str) -> tuple[tuple[str, ...], str]:
    machine = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
    complaint = ""
    for walls in ((*ISOLATION, *_NO_NESTING), ISOLATION):
        argv = [program, *walls, *machine, "--", "true"]
        done = process.run(argv, cwd=None, env=child_environment({}, {}), timeout_s=10)
        if done.exit_code == 0:
            return walls, ""
        complaint = done.text.strip() or f"bwrap ended with {done.exit_code}"
    return ISOLATION, complaint
