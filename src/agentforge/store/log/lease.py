"""One writer for a run. The kernel's lock on the lease file decides; its content tells who writes and with which token.

The token rises with every writer and stands in every record, so that a writer that lost its lease without noticing (the
file was removed or replaced) is refused before it can add a record.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from agentforge.canonical import canonical_bytes, digest_value
from agentforge.errors import LockedError, StorageError
from agentforge.frozen import dataclass
from agentforge.store.log.files import storage_error

LEASE = "lease"
_LARGEST = 4096
_SIZE = 1024
"""Bytes of a lease; the kernel writes so many at the start of a file wholly or not at all, whoever is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who wrote the lease file last.

    Attributes:
        fence: the token; 0 when there was no writer yet.
        process_start: clock ticks after boot, which tells a reused pid from the old one.
        since: when the lease was taken, as a record's time stamp.
        released: the holder let go of it in good order.
        left: how the files of the run stood when a writer last let go of it in good order (store.intact); "" = nobody
            looked. A writer carries it on, so that a log that is shorter than that shows even after a crash.
    """

    fence: int = 0
    pid: int = 0
    boot_id: str = ""
    process_start: str = ""
    host: str = ""
    since: str = ""
    released: bool = True
    left: str = ""

    @property
    def alive(self) -> bool:
        """Whether that process still runs on this machine and did not let go."""
        if self.released or self.boot_id != _boot_id():
            return False
        return self.process_start == _process_start(self.pid)


class Lease:
    """A lease that this process holds until `release`."""

    def __init__(self, path: Path, descriptor: int, holder: Holder, *, before: Holder) -> None:
        self._path = path
        self._descriptor = descriptor
        self._holder = holder
        self._before = before
        self._content = _encode(holder)

    @classmethod
    def take(cls, folder: Path, *, since: str, above: int = 0) -> Lease:
        """Become the writer of the run in `folder`.

        Args:
            since: now, for the message that another process gets.
            above: the highest token in the log; the new token is higher than it and than the last lease's.
        Raises:
            LockedError: another process is the writer.
            StorageError: the lease file cannot be written.
        """
        path = folder / LEASE
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as exc:
            raise storage_error(exc, path) from exc
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            os.close(descriptor)
            raise _locked(folder, read_holder(folder)) from exc
        except OSError as exc:
            os.close(descriptor)
            raise storage_error(exc, path) from exc
        before = read_holder(folder)
        holder = _this_process(max(above, before.fence) + 1, since, left=before.left)
        lease = cls(path, descriptor, holder, before=before)
        try:
            lease._write(lease._content)
        except StorageError:
            os.close(descriptor)
            raise
        return lease

    @property
    def fence(self) -> int:
        """The token of this writer."""
        return self._holder.fence

    @property
    def after_power_cut(self) -> bool:
        """Whether the writer before ended with its machine: what was not synced may be lost, the views above all."""
        before = self._before
        return before.fence > 0 and not before.released and bool(before.boot_id) and before.boot_id != _boot_id()

    def raise_above(self, fence: int) -> None:
        """Take a higher token when the log turns out to hold `fence` already (the lease file was lost)."""
        if fence < self.fence:
            return
        self._holder = replace(self._holder, fence=fence + 1)
        self._content = _encode(self._holder)
        self._write(self._content)

    def check(self) -> None:
        """Make sure that this process is still the writer.

        Raises:
            LockedError: the lease file was removed, replaced or rewritten.
        """
        with suppress(FileNotFoundError):
            same = os.stat(self._path).st_ino == os.fstat(self._descriptor).st_ino  # noqa: PTH116 # on the way of each record
            if same and os.pread(self._descriptor, _LARGEST, 0) == self._content:
                return
        raise LockedError(
            f"this process lost the lease of {self._path.parent} (token {self.fence} is old)",
            hint="another process drives the run now; see it with `agentforge status`",
        )

    def release(self, *, left: str = "") -> None:
        """Let go. The file stays: the next token is counted from it.

        Args:
            left: how the files of the run stand, of a writer that knows them to be right; "" = nothing was written, and
                what the last writer left still holds.
        """
        if left:
            self._let_go(replace(self._holder, released=True, left=left))
        else:
            self._let_go(replace(self._before, fence=self.fence))

    def abandon(self) -> None:
        """Let go as a process does that dies: what was written may not be all, so the views may lag behind the log."""
        self._let_go(replace(self._holder, boot_id=""))

    def _let_go(self, holder: Holder) -> None:
        if self._descriptor < 0:
            return
        with suppress(LockedError, StorageError):  # lost, or a full disk: the kernel's lock is let go of all the same
            self.check()
            self._write(_encode(holder))
        os.close(self._descriptor)
        self._descriptor = -1

    def _write(self, content: bytes) -> None:
        try:
            written = 0
            while written < len(content):  # a disk that is almost full may take a part only; the next attempt says why
                written += os.pwrite(self._descriptor, content[written:], written)
            os.ftruncate(self._descriptor, len(content))
        except OSError as exc:
            raise storage_error(exc, self._path) from exc


def read_holder(folder: Path) -> Holder:
    """Who wrote the lease file of a run last; an unreadable or missing file says nobody."""
    try:
        value = json.loads((folder / LEASE).read_bytes())
        return _holder(value)
    except (OSError, ValueError):
        return Holder()


def _holder(value: object) -> Holder:
    if not isinstance(value, dict) or not all(isinstance(value.get(name), int) for name in ("fence", "pid")):
        return Holder()
    texts = {name: str(value.get(name, "")) for name in ("boot_id", "process_start", "host", "since", "left")}
    return Holder(fence=value["fence"], pid=value["pid"], released=value.get("released") is not False, **texts)


def _this_process(fence: int, since: str, *, left: str) -> Holder:
    pid = os.getpid()
    return Holder(
        fence=fence,
        pid=pid,
        boot_id=_boot_id(),
        process_start=_process_start(pid),
        host=os.uname().nodename,
        since=since,
        released=False,
        left=left,
    )


def _encode(holder: Holder) -> bytes:
    """The holder with its own digest, so that an alteration shows; always as long, so that no end of an older one stays."""
    value = {name: getattr(holder, name) for name in Holder.__slots__}
    room = _SIZE - len(_sealed({**value, "room": ""}))
    return _sealed({**value, "room": " " * room})


def _sealed(value: Mapping[str, object]) -> bytes:
    return canonical_bytes({**value, "digest": digest_value(value)}) + b"\n"


def _locked(folder: Path, holder: Holder) -> LockedError:
    who = f"process {holder.pid} on {holder.host} since {holder.since[:19]}Z" if holder.pid else "another process"
    stop = f", or stop it with `kill {holder.pid}`" if holder.pid else ""
    return LockedError(f"{folder.name} is being driven by {who}", hint=f"wait for it{stop}")


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _process_start(pid: int) -> str:
    """Field 22 of /proc/PID/stat, "" when there is no such process (or no /proc)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return stat.rpartition(b")")[2].split()[19].decode("ascii")
