"""Run one command and bound it in time and output. Knows nothing of sandboxes, shells or git."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from subprocess import Popen
from threading import Event
from typing import IO, Required, TypedDict, Unpack

from agentforge.cancellation import interruptible
from agentforge.errors import ToolchainError
from agentforge.frozen import dataclass

TIMED_OUT = 124
"""Exit code of a command that was stopped at its time limit, as `timeout(1)` has it."""

_IN_MEMORY_BYTES = 1024 * 1024
_OUTPUT_LIMIT_BYTES = 200_000
Listener = Callable[[bytes], None]
"""Told what a command writes while it runs, piece by piece, as it comes."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_let_go: ContextVar[Event | None] = ContextVar("let_go", default=None)
_WITHOUT_LIMIT_S = 7 * 24 * 3600.0
_TERM_GRACE_S = 0.5
_DRAIN_S = 0.15
_BLIND_POLL_S = 0.02
_CHUNK_BYTES = 65_536
_SWEEP_BYTES = 1_048_576  # the largest pipe that an unprivileged process can make on Linux


@contextmanager
def overheard(listener: Listener) -> Iterator[None]:
    """Let `listener` hear the output of every command that is run meanwhile in this thread; it must not block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def releasable(sign: Event) -> Iterator[None]:
    """Commands that are run meanwhile in this thread go on without their time limit once `sign` is set by another one."""
    token = _let_go.set(sign)
    try:
        yield
    finally:
        _let_go.reset(token)


def was_released() -> bool:
    """Whether what runs in this thread was let go: nobody waits for it any more, others work beside it."""
    sign = _let_go.get()
    return sign is not None and sign.is_set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a command ended.

    Attributes:
        exit_code: the command's own; 128 + N when signal N ended it; 124 when the time limit did.
        output: stdout, with stderr in between when they were merged; the middle is cut when it was too long.
        omitted_bytes: what was cut from `output` and `stderr` together.
        stderr: empty when it was merged.
        undone: protected places of the workspace that the command made or moved and that were put right after it.
        left_running: the name under which it goes on in the background; then it has no exit code yet (0), and `output` is
            what it wrote by then.
    """

    exit_code: int
    output: bytes
    omitted_bytes: int
    timed_out: bool
    duration_s: float
    stderr: bytes = b""
    undone: tuple[str, ...] = ()
    left_running: str = ""

    @property
    def text(self) -> str:
        """The output as text; bytes that are not UTF-8 become U+FFFD."""
        return self.output.decode("utf-8", "replace")


class Bounds(TypedDict, total=False):
    """How far a command may go and what it gets; everything but the time has a default.

    Attributes:
        timeout_s: wall time; then the group gets SIGTERM, and SIGKILL half a second later.
        output_limit_bytes: per stream, >= 2; head and tail are kept in equal parts. 200,000 unless told.
        stdin: what the child reads; None is an empty standard input.
        pass_fds: descriptors that stay open in the child under the same numbers.
        merge_stderr: whether stderr comes between the output, as it does unless told, or apart.
    """

    timeout_s: Required[float]
    output_limit_bytes: int
    stdin: bytes | None
    pass_fds: tuple[int, ...]
    merge_stderr: bool


def with_descriptors(bounds: Bounds, *descriptors: int) -> Bounds:
    """Let the child have these descriptors, too."""
    return {**bounds, "pass_fds": (*bounds.get("pass_fds", ()), *descriptors)}


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None,
    env: Mapping[str, str],
    on_start: Callable[[int], None] | None = None,
    **bounds: Unpack[Bounds],
) -> Completed:
    """Run `argv` in a process group of its own and wait for it.

    What the command leaves running in its group is killed when the command itself has ended: a background child that
    keeps the pipe open costs a moment, never a hang.

    Args:
        env: the whole environment of the child; `PATH` in it finds `argv[0]`.
        on_start: called with the process number once the child runs, before anything is read from it.
    Raises:
        ToolchainError: the command cannot be started.
    """
    started = time.monotonic()
    child = _start(argv, cwd=cwd, env=env, bounds=bounds)
    pipes = [pipe for pipe in (child.stdout, child.stderr) if pipe is not None]
    ends = {pipe.fileno(): _BothEnds(bounds.get("output_limit_bytes", _OUTPUT_LIMIT_BYTES)) for pipe in pipes}
    try:
        if on_start is not None:
            on_start(child.pid)
        with interruptible(lambda: _kill_group(child, signal.SIGKILL)):
            timed_out = _follow(child, ends, deadline=started + bounds["timeout_s"])
    finally:
        _kill_group(child, signal.SIGKILL)
        status = child.wait()
        _sweep(ends)
        _close(pipes)
    kept = list(ends.values())
    return Completed(
        exit_code=TIMED_OUT if timed_out else (status if status >= 0 else 128 - status),
        output=kept[0].value(),
        omitted_bytes=sum(end.omitted for end in kept),
        timed_out=timed_out,
        duration_s=time.monotonic() - started,
        stderr=kept[1].value() if len(kept) > 1 else b"",
    )


class _BothEnds:
    """Head and tail of a byte stream of any length, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._room = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next piece of the stream."""
        room = self._room - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._room + _CHUNK_BYTES:
            self._trim()

    @property
    def omitted(self) -> int:
        """Bytes that are in neither end."""
        return self._dropped + max(len(self._tail) - self._room, 0)

    def value(self) -> bytes:
        """Both ends, with a line between them that says how much is missing."""
        omitted = self.omitted
        self._trim()
        note = b"\n... %d bytes omitted ...\n" % omitted if omitted else b""
        return bytes(self._head) + note + bytes(self._tail)

    def _trim(self) -> None:
        over = len(self._tail) - self._room
        if over > 0:
            del self._tail[:over]
            self._dropped += over


def _start(argv: Sequence[str], *, cwd: Path | None, env: Mapping[str, str], bounds: Bounds) -> Popen[bytes]:
    source = _stdin_file(bounds.get("stdin"))
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL if source is None else source,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if bounds.get("merge_stderr", True) else subprocess.PIPE,
            pass_fds=bounds.get("pass_fds", ()),
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as exc:
        raise _cannot_start(argv, cwd, exc) from exc
    finally:
        if source is not None:
            os.close(source)


def _stdin_file(data: bytes | None) -> int | None:
    # A file instead of a pipe: nothing to feed while the output is read, so no way to lock each other out.
    if data is None:
        return None
    if hasattr(os, "memfd_create") and len(data) <= _IN_MEMORY_BYTES:  # neither a disk nor the modules of tempfile
        memory = os.memfd_create("stdin")
        with open(memory, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(memory, 0, os.SEEK_SET)
        return memory

    with tempfile.TemporaryFile() as kept:
        kept.write(data)
        kept.flush()
        kept.seek(0)
        return os.dup(kept.fileno())


def _cannot_start(argv: Sequence[str], cwd: Path | None, exc: Exception) -> ToolchainError:
    name = argv[0] if argv else "(empty command)"
    if cwd is not None and not cwd.is_dir():
        return ToolchainError(f"{name} cannot be started in {cwd}: no such directory", hint="create it first")
    if isinstance(exc, FileNotFoundError):
        return ToolchainError(f"{name} was not found", hint=f"install {Path(name).name} or put it on PATH")
    if isinstance(exc, PermissionError):
        return ToolchainError(f"{name} is not executable", hint=f"check the permissions of {name}")
    return ToolchainError(f"{name} cannot be started: {exc}", hint="run the command by hand to see what it needs")


def _follow(child: Popen[bytes], ends: dict[int, _BothEnds], *, deadline: float) -> bool:
    """Read until the child has ended and its pipes are closed or drained; whether the time limit was hit."""
    watch, listener = _Watch(child.pid, list(ends)), _listener.get()
    try:
        timed_out = False
        until = deadline
        while not watch.finished:
            left = until - time.monotonic()
            if left <= 0:
                if watch.exited or timed_out:
                    break
                if was_released():
                    until = time.monotonic() + _WITHOUT_LIMIT_S
                    continue
                timed_out = True
                until = time.monotonic() + _TERM_GRACE_S
                _kill_group(child, signal.SIGTERM)
                continue
            exited_before = watch.exited
            for fd, chunk in watch.wait(left):
                ends[fd].add(chunk)
                if listener is not None and chunk:
                    listener(chunk)
            if watch.exited and not exited_before:
                until = min(until, time.monotonic() + _DRAIN_S)
        return timed_out
    finally:
        watch.close()


class _Watch:
    """The open pipes of a child and its end, in one poll set."""

    def __init__(self, pid: int, fds: list[int]) -> None:
        self.exited = False
        self._pid = pid
        self._open = set(fds)
        self._poll = select.poll()
        for fd in fds:
            self._poll.register(fd, select.POLLIN | select.POLLHUP)
        self._pidfd = _pidfd(pid)
        if self._pidfd is not None:
            self._poll.register(self._pidfd, select.POLLIN)

    @property
    def finished(self) -> bool:
        """The child has ended and nobody holds its pipes."""
        return self.exited and not self._open

    def wait(self, left_s: float) -> list[tuple[int, bytes]]:
        """Block until something was written, the child ended, or the time is over; what was written."""
        blind = self._pidfd is None and not self.exited
        ready = self._poll.poll(1000 * (min(left_s, _BLIND_POLL_S) if blind else left_s))
        chunks = [(fd, self._read(fd)) for fd, _ in ready if fd != self._pidfd]
        if not self.exited and (blind or any(fd == self._pidfd for fd, _ in ready)):
            self._notice_exit()
        return chunks

    def close(self) -> None:
        """Give the process descriptor back."""
        if self._pidfd is not None:
            os.close(self._pidfd)

    def _read(self, fd: int) -> bytes:
        chunk = os.read(fd, _CHUNK_BYTES)
        if not chunk:
            self._poll.unregister(fd)
            self._open.discard(fd)
        return chunk

    def _notice_exit(self) -> None:
        # WNOWAIT leaves the zombie, and with it the number of its group, until the group was killed.
        self.exited = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        if self.exited and self._pidfd is not None:
            self._poll.unregister(self._pidfd)


def _pidfd(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # a kernel or a container without the call: poll instead
        return None


def _kill_group(child: Popen[bytes], number: signal.Signals) -> None:
    # macOS answers EPERM for a group that holds only a zombie.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _sweep(ends: dict[int, _BothEnds]) -> None:
    """Take what is left in the pipes without waiting for anybody."""
    for fd, end in ends.items():
        os.set_blocking(fd, False)
        taken = 0
        with suppress(BlockingIOError):
            while taken < _SWEEP_BYTES and (chunk := os.read(fd, _CHUNK_BYTES)):
                end.add(chunk)
                taken += len(chunk)


def _close(pipes: list[IO[bytes]]) -> None:
    for pipe in pipes:
        pipe.close()
