"""One private loopback for several boxes: what a background command serves, the commands beside it can reach."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from contextlib import suppress

_OWNER_OF_NAMESPACE = 0xB701  # NS_GET_USERNS
_STATE, _LISTENS = 3, "0A"
"""Where a row of /proc/net/tcp tells its state, and what it says of a socket that listens."""


class SharedLoopback:
    """The network of the first box that was kept; later boxes enter it instead of making one of their own.

    It has no way out: it is the same closed network that every box has, only not alone in it. Close it to let it go.
    """

    def __init__(self) -> None:
        self._network = -1
        self._user = -1

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What a box that enters inherits; () before one was kept."""
        return () if self._network < 0 else (self._user, self._network)

    def keep(self, pid: int) -> None:
        """Hold on to the network that process `pid` has, unless one is held already; a process that is gone has none."""
        if self._network >= 0:
            return

        with suppress(OSError):
            network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            try:
                self._user = fcntl.ioctl(network, _OWNER_OF_NAMESPACE)
            except OSError:
                os.close(network)
                raise
            self._network = network

    def entering(self, *, holder: str = "self") -> list[str]:
        """The command line that goes before a box's own; [] where a box makes its own network.

        Args:
            holder: the process whose descriptors are entered: "self" where the entering one inherits them, else our number.
        """
        program = shutil.which("nsenter", path=os.defpath) if self.descriptors else None
        if program is None:
            return []
        user, network = (f"/proc/{holder}/fd/{number}" for number in self.descriptors)
        return [program, f"--user={user}", f"--net={network}", "--preserve-credentials", "--"]

    def joining(self) -> list[str]:
        """The command line that goes before a program that runs in it with the user's own files and number; [] = no network."""
        entering = self.entering(holder=str(os.getpid()))
        own = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", *_own_number(), "--die-with-parent", "--"]
        return [*entering, *own] if entering else []

    def ports(self) -> frozenset[int]:
        """The TCP ports on which somebody listens in it; none before a network was kept."""
        entering = self.entering(holder=str(os.getpid()))
        if not entering:
            return frozenset()
        tables = [f"/proc/self/net/{name}" for name in ("tcp", "tcp6")]
        said = subprocess.run([*entering, "cat", *tables], capture_output=True, text=True, check=False).stdout
        rows = (line.split() for line in said.splitlines())
        return frozenset(
            int(row[1].rpartition(":")[2], 16) for row in rows if len(row) > _STATE and row[_STATE] == _LISTENS
        )

    def close(self) -> None:
        """Let the network go; it ends with the last process in it."""
        for number in self.descriptors:
            os.close(number)
        self._network = self._user = -1


def staying() -> list[str]:
    """The arguments of a box that stays in the network it was entered into, under the user's own number."""
    return ["--share-net", *_own_number()]


def _own_number() -> list[str]:
    return ["--uid", str(os.getuid()), "--gid", str(os.getgid())]
