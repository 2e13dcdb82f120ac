"""The server of a local model as other processes see it: found, started on first use, shared, kept by leases.

A folder holds, per server, five files: `KEY.json` (where it listens), `KEY.alive` (locked by the server as long as it lives),
`KEY.lease` (share-locked by everybody who asks it something; when nobody did for a while, it ends), `KEY.start` (locked by
the one who starts it) and `KEY.log`. The locks are the kernel's: whatever dies lets go of them.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import LocalModelError, StorageError
from agentforge.frozen import dataclass
from agentforge.installation import command_for
from agentforge.local.gguf import read_header
from agentforge.local.machine import look, plan

IDLE_S = 600
"""Seconds without a request after which a server ends, where no setting says otherwise."""

_START_S = 180.0
_POLL_S = 0.02
_STOP_S = 10.0
_GRACE_S = 1.0
_children: set[int] = set()
"""Servers that this process started and has not seen end."""
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that lives.

    Attributes:
        url: where it listens, without a path.
        key: that it wants to hear, so that no other user of this machine can ask it.
        file: the model's file.
        memory: bytes that it was expected to need.
    """

    pid: int
    url: str
    key: str
    file: str
    context: int
    threads: int
    parallel: int
    lean: bool
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be served.

    Attributes:
        folder: where the files of servers are.
        file: of the model.
        wishes: `context`, `threads`, `memory_mb`, `idle_s` of the settings; what is missing is chosen.
    """

    folder: Path
    file: Path
    wishes: Mapping[str, int]

    @property
    def key(self) -> str:
        """The name of the server's files: the same file and wishes share one server."""
        return digest_value([str(self.file.resolve()), dict(self.wishes)])[:16]

    def place(self, suffix: str) -> Path:
        """One of the server's files."""
        return self.folder / f"{self.key}.{suffix}"


@contextmanager
def leased(wanted: Wanted) -> Iterator[Served]:
    """Hold a lease on a server; it is started where none lives.

    Raises:
        LocalModelError: it cannot be started; the reason is llama.cpp's own where it gave one.
    Side effects: starts a process that outlives this one.
    """
    try:
        wanted.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lease = os.open(wanted.place("lease"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise StorageError(f"{wanted.folder} cannot be written: {exc.strerror}") from exc
    try:
        fcntl.flock(lease, fcntl.LOCK_SH)
        os.utime(lease)
        yield living(wanted) or _started(wanted)
    finally:
        os.utime(lease)
        os.close(lease)


def living(wanted: Wanted) -> Served | None:
    """The server where one lives."""
    return _of_record(wanted.place("json")) if _is_locked(wanted.place("alive")) else None


def wait_for_end(wanted: Wanted) -> None:
    """Wait a moment for a server that answers nobody any more: a process that dies closes its sockets before its locks."""
    _wait_for(lambda: not _is_locked(wanted.place("alive")), _GRACE_S)


def all_living(folder: Path) -> tuple[Served, ...]:
    """Every server of a folder that lives."""
    alive = (path for path in sorted(folder.glob("*.alive")) if _is_locked(path))
    return tuple(served for path in alive if (served := _of_record(path.with_suffix(".json"))) is not None)


def stop_all(folder: Path) -> tuple[Served, ...]:
    """End every server of a folder, at once.

    Returns:
        Those that were ended.
    Side effects: SIGTERM; waits until they are gone, ten seconds at most.
    """
    ended = []
    for path in sorted(folder.glob("*.alive")):
        served = _of_record(path.with_suffix(".json"))
        if served is None or not _is_locked(path):
            continue
        with suppress(ProcessLookupError):
            os.kill(served.pid, signal.SIGTERM)
        _wait_for(lambda path=path: not _is_locked(path), _STOP_S)
        path.with_suffix(".json").unlink(missing_ok=True)
        ended.append(served)
    return tuple(ended)


def _started(wanted: Wanted) -> Served:
    """Start a server, or wait for the one whom somebody else is starting."""
    with wanted.place("start").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return living(wanted) or _start(wanted)


def _start(wanted: Wanted) -> Served:
    """Start the process and wait until it listens."""
    _check_engine()
    _let_go_of_ended()
    header = read_header(wanted.file)
    machine = look()
    chosen = plan(header, file_bytes=wanted.file.stat().st_size, machine=machine, wishes=wanted.wishes)
    order: dict[str, Any] = {
        **asdict(chosen),
        "file": str(wanted.file.resolve()),
        "place": str(wanted.place("json").with_suffix("").resolve()),
        "idle_s": wanted.wishes.get("idle_s", IDLE_S),
    }
    wanted.place("json").unlink(missing_ok=True)
    pid = _spawn(order, wanted.place("log"))
    _children.add(pid)
    ended: list[int] = []

    def is_ended() -> bool:
        if not ended:
            done, status = os.waitpid(pid, os.WNOHANG)
            ended.extend([status] if done else [])
            _children.difference_update((done,))
        return bool(ended)

    _wait_for(lambda: wanted.place("json").exists() or is_ended(), _START_S)
    served = living(wanted)
    if served is not None:
        return served
    _wait_for(is_ended, _GRACE_S)  # it listened, and died at once
    if not ended:
        os.kill(pid, signal.SIGKILL)
    raise _not_started(wanted, ended)


def _let_go_of_ended() -> None:
    """Tell the system that nobody waits for the servers of this process that have ended."""
    for pid in tuple(_children):
        if os.waitpid(pid, os.WNOHANG)[0]:
            _children.discard(pid)


def _spawn(order: Mapping[str, Any], log: Path) -> int:
    """Start the server in a session of its own: Ctrl-C here does not reach it, and it outlives this process."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    kept["MALLOC_ARENA_MAX"] = "2"  # else every thread reserves address space, which the server's bound counts
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    command = [sys.executable, "-P", "-m", "agentforge.local.server", json.dumps(order)]
    return os.posix_spawn(sys.executable, command, kept, file_actions=actions, setsid=True)


def _not_started(wanted: Wanted, ended: list[int]) -> LocalModelError:
    if not ended:
        return LocalModelError(
            f"the server of {wanted.file.name} did not listen within {_START_S:.0f} seconds",
            hint=f"see {wanted.place('log')}; a smaller model starts faster: agentforge model list",
            requests=0,
        )
    code = os.waitstatus_to_exitcode(ended[0])
    how = f"was killed by signal {-code}" if code < 0 else "could not load the model"
    return LocalModelError(
        f"the server of {wanted.file.name} {how}: {_reason(wanted.place('log'))}",
        hint=f"see {wanted.place('log')}, or get the model again: agentforge model pull",
        requests=0,
    )


def _reason(log: Path) -> str:
    """What llama.cpp says of the file, else what this program's own process says."""
    text = ""
    with suppress(OSError):
        text = log.read_text(encoding="utf-8", errors="replace")
    for mark in ("error loading model:", "Error:"):
        said = [line.partition(mark)[2].strip() for line in text.splitlines() if mark in line]
        if said:
            return said[0]
    return (text.strip().splitlines() or ["no reason was given; memory, perhaps"])[-1]


def _check_engine() -> None:
    if find_spec("xllamacpp") is None:
        raise LocalModelError(
            "models on this machine are served by xllamacpp, which is not installed",
            hint=command_for("local"),
            requests=0,
        )


def _of_record(path: Path) -> Served | None:
    try:
        return Served(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):  # not yet there, or of another version
        return None


def _is_locked(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # BlockingIOError: it is held
        return True
    return False


def _wait_for(condition: Any, most_s: float) -> None:
    until = time.monotonic() + most_s
    while not condition() and time.monotonic() < until:
        time.sleep(_POLL_S)
