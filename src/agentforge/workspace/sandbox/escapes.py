"""Tries to get out of a sandbox on this machine and says what held. Every attempt is real; what it would gain is our own."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from agentforge.frozen import dataclass
from agentforge.workspace.sandbox import escape_probe
from agentforge.workspace.sandbox.box import Box, Sandbox

_PROBE_S = 60.0
_OUTPUT_BYTES = 50_000_000
_OUTPUT_LIMIT_BYTES = 200_000

_NAMES = {
    "home": "read a file in the home",
    "secret": "read .env in the workspace",
    "outside": "write outside the workspace",
    "hook": "write .git/hooks",
    "config": "write .envrc",
    "nested": "leave a .git in a sub-folder",
    "tcp": "reach the network by TCP",
    "udp": "reach the network by UDP",
    "dns": "resolve a name",
    "vsock": "reach the host of this machine (vsock)",
    "socket": "connect to a service's socket",
    "abstract": "connect to an abstract socket",
    "services": "find the sockets of docker, dbus, ssh-agent",
    "environ": "read the environment of the harness",
    "processes": "see other processes",
    "signal": "signal the harness",
    "keyring": "read the session's keyring",
    "terminal": "type into the terminal",
    "alive": "keep a process alive after the end",
    "kernel": "open settings of the kernel for writing",
    "namespace": "make a user namespace of its own",
    "memory": "take 9 GiB of memory",
    "threads": "start 6000 processes",
    "output": "send 50 MB of output",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way out that was tried.

    Attributes:
        name: a short word for programs.
        what: the same in words.
        held: None when it was not tried.
        detail: what was gained, or why it was not tried.
    """

    name: str
    what: str
    held: bool | None
    detail: str = ""


def try_escapes(sandbox: Sandbox, environ: Mapping[str, str]) -> tuple[Attempt, ...]:
    """Try every way out that we know, against baits of our own.

    Args:
        environ: the user's environment; `HOME` in it gets a bait where it can be written.
    Raises:
        SandboxError: no command runs in the sandbox at all.
    Side effects: a file in the home and in a temporary folder come and go; commands run for about a second.
    """
    with _Baits.laid(environ) as baits:
        gained = baits.sprung(sandbox)
    return tuple(_attempt(name, what, gained) for name, what in _NAMES.items())


def _attempt(name: str, what: str, gained: Mapping[str, str]) -> Attempt:
    if name not in gained:
        return Attempt(name=name, what=what, held=None, detail=gained.get(f"{name}-untried", "not tried"))
    return Attempt(name=name, what=what, held=not gained[name], detail=gained[name])


class _Baits:
    """Files, sockets and services of our own that nothing inside may reach."""

    def __init__(self, folder: Path, home_file: Path | None, *, stack: ExitStack) -> None:
        self._folder = folder
        self._home_file = home_file
        self._mark = f"agentforge-bait-{secrets.token_hex(4)}"
        self._tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self._udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self._udp.bind(("127.0.0.1", 0))
        self._udp.setblocking(False)
        self._listening(str(folder / "service"), stack)
        self._listening(f"\0{self._mark}", stack)
        self._workspace = folder / "work space ü"
        for name in (".git/hooks/.keep", ".envrc", ".env", "sub/.keep"):
            place = self._workspace / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("bait\n")

    @classmethod
    @contextmanager
    def laid(cls, environ: Mapping[str, str]) -> Iterator[_Baits]:
        """Lay the baits and take them away again."""
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="agentforge-doctor-"))
            yield cls(Path(folder).resolve(), _home_bait(environ, stack), stack=stack)

    def sprung(self, sandbox: Sandbox) -> dict[str, str]:
        """Let a probe loose in the sandbox; what it gained by name, "" where nothing."""
        if sandbox.kind == "landlock":  # it refuses to guard a repository's own folder
            (self._workspace / ".git/hooks/.keep").unlink()
            (self._workspace / ".git/hooks").rmdir()
            (self._workspace / ".git").rmdir()
            (self._workspace / ".git").write_text("gitdir: bait\n")
        box = Box(workspace=self._workspace, mount_at=self._folder / "mounted")
        confined = sandbox.kind != "none"
        probe = Path(escape_probe.__file__).read_text("utf-8")
        argv = [sys.executable, "-I", "-c", probe, json.dumps(self._plan(bomb=confined))]
        done = sandbox.run(argv, box=box, timeout_s=_PROBE_S, merge_stderr=False)
        gained: dict[str, str] = {}
        for line in done.text.splitlines()[-1:]:
            gained = {str(name): str(value) for name, value in json.loads(line).items()} if line[:1] == "{" else {}
        gained |= self._left() | {"udp": self._datagram(), "alive": self._alive(sandbox, box)}
        gained["output"] = self._output(sandbox, box)
        if self._home_file is None:
            gained.pop("home", None)
            gained["home-untried"] = "the home cannot be written, so there is no bait in it"
        if not confined:
            gained.pop("threads", None)
            gained["threads-untried"] = "nothing would stop it"
        return gained

    def _plan(self, *, bomb: bool) -> dict[str, Any]:
        return {
            "home_file": str(self._home_file or "/nonexistent"), "secret_file": ".env", "bomb": bomb,
            "outside_file": str(self._folder / "outside"), "tcp_port": self._tcp.getsockname()[1],
            "udp_port": self._udp.getsockname()[1], "socket": str(self._folder / "service"), "abstract": self._mark,
            "parent": os.getpid(), "environ_digest": _digest("environ"), "cmdline_digest": _digest("cmdline"),
        }  # fmt: skip

    def _listening(self, address: str, stack: ExitStack) -> None:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(address)
        listener.listen()

    def _datagram(self) -> str:
        try:
            return "arrived" if self._udp.recv(100) else ""
        except BlockingIOError:
            return ""

    def _left(self) -> dict[str, str]:
        """What of the probe's writing stands on this machine, whatever it looked like inside."""
        stays = {
            "outside": (self._folder / "outside").exists(),
            "hook": (self._workspace / ".git/hooks/pre-commit").exists(),
            "config": (self._workspace / ".envrc").read_text("utf-8") != "bait\n",
            "nested": (self._workspace / "sub/.git").exists(),
        }
        return {name: "it stays" if there else "" for name, there in stays.items()}

    def _alive(self, sandbox: Sandbox, box: Box) -> str:
        seconds = f"{60 + secrets.randbelow(30)}.{secrets.randbelow(10**9):09d}"
        inner = f'setsid sh -c "echo > $f; exec sleep {seconds}" >/dev/null 2>&1 &'
        line = (
            f'f=$(mktemp -u) && mkfifo "$f" && {{ {inner} }} && read x < "$f"; rm "$f"'  # ends once the session stands
        )
        sandbox.run(["sh", "-c", line], box=box, timeout_s=_PROBE_S)
        left = _processes_with(seconds)
        for pid in left:
            os.kill(pid, 9)
        return "it runs on" if left else ""

    def _output(self, sandbox: Sandbox, box: Box) -> str:
        argv = ["head", "-c", str(_OUTPUT_BYTES), "/dev/zero"]
        done = sandbox.run(argv, box=box, timeout_s=_PROBE_S, output_limit_bytes=_OUTPUT_LIMIT_BYTES)
        kept = len(done.output)
        return "" if kept < 2 * _OUTPUT_LIMIT_BYTES else f"{kept} bytes were kept"


def _home_bait(environ: Mapping[str, str], stack: ExitStack) -> Path | None:
    """Lay a file in the home; None where the home is read-only, or missing."""
    bait = Path(environ.get("HOME") or Path.home()) / f".agentforge-bait-{secrets.token_hex(4)}"
    try:
        bait.write_text("bait\n")
    except OSError:
        return None
    stack.callback(bait.unlink, missing_ok=True)
    return bait


def _digest(file: str) -> str:
    return hashlib.sha256(Path("/proc/self", file).read_bytes()).hexdigest()


def _processes_with(word: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if word.encode() in line:  # also of the shell that is about to become the process
            found.append(int(path.parent.name))
    return found
