"""The bubblewrap sandbox: how a command is started behind its mounts, bounded, waited for, and what it left undone."""

from __future__ import annotations

import os
import re
import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from agentforge.errors import SandboxError
from agentforge.frozen import dataclass
from agentforge.workspace.processes import process
from agentforge.workspace.processes.process import Bounds, Completed, was_released, with_descriptors
from agentforge.workspace.protection.protected_paths import protected_paths_of
from agentforge.workspace.sandbox import mounts
from agentforge.workspace.sandbox.box import ISOLATION, Box, Kind, Network, isolation
from agentforge.workspace.sandbox.hostproxy import proxy_for
from agentforge.workspace.sandbox.loopback import SharedLoopback, staying
from agentforge.workspace.sandbox.resource_limits import limited, own_group
from agentforge.workspace.sandbox.seccomp import program
from agentforge.workspace.sandbox.toolchain import child_environment

_CHILD = re.compile(rb'"child-pid"\s*:\s*(\d+)')
_END_MS = 2000
_START_MS = 10_000
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """Commands see a read-only machine without home, temporary files, sockets and network, and a writable workspace.

    Attributes:
        network: what commands may reach.
        hidden: folders out of sight in every box, such as the data directory.
    """

    program: str
    environ: Mapping[str, str]
    network: Network = "off"
    hidden: tuple[Path, ...] = ()
    kind: Kind = "bubblewrap"

    def run(self, argv: Sequence[str], *, box: Box, **bounds: Unpack[Bounds]) -> Completed:
        """Run `argv` in `box`. A program that is not found inside ends with exit code 127.

        Protected places that the command made in a writable workspace are removed when it has ended, unless it was let go
        meanwhile: then they may be somebody else's, as with a lasting box.

        Raises:
            SandboxError: the box cannot be built, or what the command left cannot be undone.
        """
        for _ in range(_TRIES - 1):
            try:
                return self._run(argv, box=box, **bounds)
            except PlaceGone:  # a socket that was to be hidden has gone meanwhile: look again
                continue
        return self._run(argv, box=box, **bounds)

    def _run(self, argv: Sequence[str], *, box: Box, **bounds: Unpack[Bounds]) -> Completed:
        reaches = box.network or self.network == "on"
        given = mounts.arguments(box, environ=tuple(sorted(self.environ.items())), hidden=self.hidden, network=reaches)
        ward = protected_paths_of(box.workspace)
        before = ward.look(named=box.named)
        given += mounts.guards(box, before)
        given += ["--share-net"] if reaches else []
        env = child_environment(self.environ, box.env)
        shared = box.loopback if not reaches and not isinstance(self.network, tuple) else None
        entering = shared.entering() if shared is not None else []
        given += staying() if entering else []
        if not reaches and isinstance(self.network, tuple):
            proxy = proxy_for(self.network)
            given += proxy.mounts()
            argv, env = proxy.command(argv), {**env, **proxy.variables()}
        # Who enters a network makes a namespace inside the one that owns it, so that one is closed by the filter alone.
        walls = ISOLATION if shared is not None and box.lasting else isolation(self.program)
        inner = ["--chdir", str(box.mount_at / box.cwd), "--", *limited(argv, env)]
        with BoxStatus.opened(kept_by=shared if box.lasting else None) as status:
            done = process.run(
                [*entering, self.program, *status.arguments(), *walls, *given, *inner],
                cwd=Path("/"),
                env=env,
                on_start=status.started,
                **with_descriptors(bounds, *status.inherited, *(shared.descriptors if entering and shared else ())),
            )
            said = status.read()
            _await_end(said)
        _refuse_broken_box(done, said, box)
        beside_others = box.lasting or was_released()
        undone = ward.undo(before, named=box.named) if box.changes_workspace and not beside_others else ()
        return replace(done, undone=undone) if undone else done


class PlaceGone(SandboxError):
    """A file that was to be hidden was there when the machine was looked at and is not there any more."""


class BoxStatus:
    """What bubblewrap tells about its child; the child waits until it is in its control group, where there is one."""

    def __init__(
        self,
        reader: int,
        writer: int,
        *,
        gate: tuple[int, int] | None,
        filters: int | None,
        kept_by: SharedLoopback | None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._gate = gate
        self._filters = filters
        self._kept_by = kept_by
        self._said = b""

    @classmethod
    @contextmanager
    def opened(cls, *, kept_by: SharedLoopback | None) -> Iterator[BoxStatus]:
        """Open the pipes and close them afterwards."""
        reader, writer = os.pipe()
        gate = os.pipe() if own_group() is not None else None
        filters = _filter_file()
        status = cls(reader, writer, gate=gate, filters=filters, kept_by=kept_by)
        try:
            yield status
        finally:
            for fd in (reader, status._writer, *(gate or ()), *(() if filters is None else (filters,))):
                with suppress(OSError):  # the writer is closed when the child has started
                    os.close(fd)

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that bubblewrap gets."""
        return (
            self._writer,
            *(self._gate[:1] if self._gate else ()),
            *(() if self._filters is None else (self._filters,)),
        )

    def arguments(self) -> list[str]:
        """Name the descriptors to bubblewrap."""
        given = ["--json-status-fd", str(self._writer)]
        given += ["--block-fd", str(self._gate[0])] if self._gate else []
        return given if self._filters is None else [*given, "--seccomp", str(self._filters)]

    def started(self, _pid: int) -> None:
        """Move the child into the control group before it runs anything; let its network be kept where others share it."""
        group = own_group()
        if (self._gate is None or group is None) and self._kept_by is None:
            return
        os.close(self._writer)
        self._writer = -1
        poll = select.poll()
        poll.register(self._reader, select.POLLIN | select.POLLHUP)
        while not _CHILD.search(self._said) and poll.poll(_START_MS):
            chunk = os.read(self._reader, 4096)
            if not chunk:
                return
            self._said += chunk
        child = _CHILD.search(self._said)
        if child is None:
            return
        if self._kept_by is not None:
            self._kept_by.keep(int(child[1]))
        if self._gate is not None and group is not None:
            group.add(int(child[1]))
            os.write(self._gate[1], b"1")

    def read(self) -> bytes:
        """Give everything that bubblewrap has told."""
        os.set_blocking(self._reader, False)
        with suppress(BlockingIOError):
            self._said += os.read(self._reader, 4096)
        return self._said


def _filter_file() -> int | None:
    """The filter of system calls as a file that bubblewrap reads; None where there is none for this processor."""
    if not program() or not hasattr(os, "memfd_create"):
        return None
    fd = os.memfd_create("filter")
    os.write(fd, program())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


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
    kind = PlaceGone if complaint.startswith("bwrap: Can't create file at") else SandboxError
    raise kind(f"no sandbox for {box.mount_at}: {complaint}", hint="run `agentforge doctor`")
