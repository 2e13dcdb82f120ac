"""The bubblewrap sandbox: the order of its mounts, and how a command is run behind them."""

from __future__ import annotations

import os
import re
import select
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from agentforge.errors import SandboxError
from agentforge.frozen import dataclass
from agentforge.workspace import process
from agentforge.workspace.process import Completed
from agentforge.workspace.sandbox import Box, Kind
from agentforge.workspace.toolchain import child_environment, outermost, toolchain_paths

# As root bubblewrap keeps every capability of the new user namespace, and with them remounting: drop them by name.
ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")

_HIDDEN = ("/tmp", "/var/tmp", "/run", "/home", "/root")
_SHOWN_AGAIN = ("/run/current-system",)  # NixOS keeps its programs here
_RESOLVER = ("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf")
_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private", "/etc/krb5.keytab")

# RLIMIT_DATA, not RLIMIT_AS: node, Java and the sanitizers reserve tens of gigabytes of addresses that they never use.
_CHILD = re.compile(rb'"child-pid"\s*:\s*(\d+)')
_END_MS = 2000

_LIMITS = ("--data=8589934592", "--nproc=2048", "--fsize=2147483648", "--core=0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """Commands see a read-only machine without home, temporary files, sockets and network, and a writable workspace."""

    program: str
    environ: Mapping[str, str]
    kind: Kind = "bubblewrap"

    def run(
        self,
        argv: Sequence[str],
        *,
        box: Box,
        timeout_s: float,
        output_limit_bytes: int = 200_000,
        stdin: bytes | None = None,
        pass_fds: tuple[int, ...] = (),
        merge_stderr: bool = True,
    ) -> Completed:
        """Run `argv` in `box`. A program that is not found inside ends with exit code 127.

        Raises:
            SandboxError: the box cannot be built.
        """
        env = child_environment(self.environ, box.env)
        mounts = self._mounts(box)
        status_read, status_write = os.pipe()
        try:
            done = process.run(
                [self.program, "--json-status-fd", str(status_write), *ISOLATION, *mounts, *_limited(argv, env)],
                cwd=Path("/"),
                env=env,
                timeout_s=timeout_s,
                output_limit_bytes=output_limit_bytes,
                stdin=stdin,
                pass_fds=(*pass_fds, status_write),
                merge_stderr=merge_stderr,
            )
            os.set_blocking(status_read, False)
            status = _status(status_read)
            _await_end(status)
            _refuse_broken_box(done, status, box)
        finally:
            os.close(status_write)
            os.close(status_read)
        return done

    def _mounts(self, box: Box) -> list[str]:
        _refuse_bad_mount_point(box)
        home = Path(self.environ.get("HOME") or "/root")
        own = self.environ.get("AGENTFORGE_HOME")  # signing keys, other tasks
        hidden = _hidden_roots((home, *((Path(own),) if own else ()), *box.hidden))
        shown = _toolchains(tuple(sorted(self.environ.items())), home, box.interpreters)
        arguments = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
        for path in hidden:
            arguments += ["--tmpfs", str(path)]
        for secret in _SECRETS:
            arguments += _mask(Path(secret))
        for path in _shown_again(shown, hidden=hidden, box=box):
            arguments += ["--ro-bind", str(path), str(path)]
        arguments += ["--dir", str(home)] if _inside(home, hidden) else []
        arguments += _workspace_mounts(box)
        arguments += ["--share-net"] if box.network else []
        return [*arguments, "--chdir", str(box.mount_at / box.cwd), "--"]


@lru_cache(maxsize=32)
def _toolchains(environ: tuple[tuple[str, str], ...], home: Path, interpreters: tuple[Path, ...]) -> tuple[Path, ...]:
    # Some hundred file lookups: once per task, not once per command.
    return toolchain_paths(dict(environ), home=home, interpreters=interpreters)


def _refuse_bad_mount_point(box: Box) -> None:
    if not box.mount_at.is_absolute() or box.mount_at == Path("/"):
        raise SandboxError(f"cannot mount the workspace at {box.mount_at}", hint="the path must be absolute and not /")
    if not box.workspace.is_dir():
        raise SandboxError(f"the workspace {box.workspace} does not exist", hint="resume the task to rebuild it")


@lru_cache(maxsize=32)
def _hidden_roots(more: tuple[Path, ...]) -> tuple[Path, ...]:
    named = {Path(path) for path in _HIDDEN} | set(more)
    return outermost(path.resolve() for path in named if path.is_dir() and path.resolve() != Path("/"))


def _shown_again(shown: Iterable[Path], *, hidden: tuple[Path, ...], box: Box) -> Iterator[Path]:
    system = [Path(path) for path in (*_SHOWN_AGAIN, *(_RESOLVER if box.network else ())) if Path(path).exists()]
    for path in (*system, *shown):
        if _inside(path, hidden) and not path.is_relative_to(box.mount_at):
            yield path


def _inside(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a tmpfs covers the path under the name that it is asked for by."""
    return any(path != root and path.is_relative_to(root) for root in roots)


def _mask(secret: Path) -> list[str]:
    if not os.access(secret, os.R_OK):
        return []
    return ["--tmpfs", str(secret)] if secret.is_dir() else ["--ro-bind", "/dev/null", str(secret)]


def _workspace_mounts(box: Box) -> list[str]:
    mount_at = str(box.mount_at)
    arguments = ["--bind" if box.writable else "--ro-bind", str(box.workspace), mount_at]
    # A mount point cannot be renamed or replaced: git outside is not led to a folder that was made inside.
    if (box.workspace / ".git").exists():
        arguments += ["--ro-bind", str(box.workspace / ".git"), str(box.mount_at / ".git")]
    for path in box.writable_paths:
        arguments += ["--bind", str(_source(box, path)), str(path)]
    for path in box.read_only:
        arguments += ["--ro-bind", str(_source(box, path)), str(path)]
    for source, destination in box.overlays:
        _prepare_mount_point(box, source, destination)
        arguments += ["--ro-bind", str(source), str(destination)]
    return arguments


def _source(box: Box, path: Path) -> Path:
    return box.workspace / path.relative_to(box.mount_at) if path.is_relative_to(box.mount_at) else path


def _prepare_mount_point(box: Box, source: Path, destination: Path) -> None:
    """Make the overlay's place in the workspace, so that bubblewrap need not, step by step and through no link."""
    if not destination.is_relative_to(box.mount_at) or destination == box.mount_at:
        return
    at = box.workspace
    for part in destination.relative_to(box.mount_at).parts:
        if part == "..":
            raise SandboxError(f"cannot lay {source} over {destination}: the path climbs")
        at = at / part
        if at.is_symlink():
            raise SandboxError(f"cannot lay {source} over {destination}: {at.name} is a link", hint="remove the link")
        if not at.exists():
            at.mkdir() if source.is_dir() or at != _source(box, destination) else at.touch()


def _limited(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    prlimit = shutil.which("prlimit", path=env.get("PATH")) or shutil.which("prlimit", path="/usr/bin:/bin")
    return [prlimit, *_LIMITS, "--", *argv] if prlimit else list(argv)


def _status(fd: int) -> bytes:
    try:
        return os.read(fd, 4096)
    except BlockingIOError:
        return b""


def _await_end(status: bytes) -> None:
    """Wait until the box is empty: what was left running in it is killed with it, a moment after bubblewrap has ended."""
    child = _CHILD.search(status)
    if child is None or not hasattr(os, "pidfd_open"):
        return
    try:
        inside = os.pidfd_open(int(child[1]))
    except OSError:  # it is gone
        return
    try:
        poll = select.poll()
        poll.register(inside, select.POLLIN)
        poll.poll(_END_MS)
    finally:
        os.close(inside)


def _refuse_broken_box(done: Completed, status: bytes, box: Box) -> None:
    # bubblewrap reports an exit code only of a command that it started; without it, what it printed is its complaint.
    if done.timed_out or b'"exit-code"' in status:
        return
    complaint = (done.stderr or done.output).decode("utf-8", "replace").strip()
    raise SandboxError(f"no sandbox for {box.mount_at}: {complaint}", hint="run `agentforge doctor`")
