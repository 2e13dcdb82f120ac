"""The sandbox where bubblewrap does not work: Landlock for files, namespaces or a filter of system calls for the network.

Nothing can be mounted here. Secrets of the workspace are set aside while a command runs, and protected files are put back.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Unpack

from agentforge.errors import SandboxError
from agentforge.frozen import dataclass
from agentforge.installation import command_for
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.processes import process
from agentforge.workspace.processes.process import Bounds, Completed, with_descriptors
from agentforge.workspace.protection.protected_paths import Guarded, ProtectedPaths, protected_paths_of
from agentforge.workspace.sandbox.box import Box, Kind, Network
from agentforge.workspace.sandbox.resource_limits import limits, own_group
from agentforge.workspace.sandbox.seccomp import program
from agentforge.workspace.sandbox.toolchain import child_environment, toolchain_paths

_READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap", "/sys/devices"),
    *(
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/version",
        "/proc/filesystems",
        "/proc/stat",
        "/proc/sys",
        "/proc/loadavg",
    ),
    *("/dev/urandom", "/dev/random", "/var/lib/dpkg", "/var/lib/alternatives"),
)
_WRITABLE = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm")
_OF_ETC_SECRET = ("shadow", "gshadow", "shadow-", "gshadow-", "sudoers", "sudoers.d", "ssh", "krb5.keytab", "kubernetes",
                  "rancher", "wireguard", "docker", "NetworkManager", "machine-id")  # fmt: skip
_LARGEST_KEPT_BYTES = 32 << 20
_OLDEST_ABI = 3
_HINT = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Landlocked:
    """Commands run in the workspace's own folder; they reach it, system folders and toolchains, and nothing else."""

    environ: Mapping[str, str]
    network: Network = "off"
    kind: Kind = "landlock"

    def run(self, argv: Sequence[str], *, box: Box, **bounds: Unpack[Bounds]) -> Completed:
        """Run `argv` in the workspace of the box.

        Raises:
            SandboxError: the box asks for what Landlock cannot give, or the command cannot be shut in.
        """
        reaches = box.network or self.network == "on"
        if isinstance(self.network, tuple) and not reaches:
            raise SandboxError("Landlock cannot open single hosts", hint=f'{_HINT}, or set sandbox.network = "off"')
        if box.lasting:
            raise SandboxError("Landlock cannot hold commands that go on beside others", hint=_HINT)
        if not box.workspace.is_dir():
            raise SandboxError(f"the workspace {box.workspace} does not exist", hint="resume the task to rebuild it")
        ward = protected_paths_of(box.workspace)
        before = ward.look(named=box.named)
        with tempfile.TemporaryDirectory(prefix="agentforge-box-") as own, _kept(box, ward, before) as undone:
            done = self._run(argv, box=box, own=Path(own), reaches=reaches, bounds=bounds)
        return replace(done, undone=tuple(sorted(undone))) if undone else done

    def _run(self, argv: Sequence[str], *, box: Box, own: Path, reaches: bool, bounds: Bounds) -> Completed:
        env = child_environment(self.environ, {"HOME": str(own), "TMPDIR": str(own), **box.env})
        reader, writer = os.pipe()
        gate, opener = os.pipe()
        try:
            specification = self._specification(box, own, reaches=reaches, descriptors=(writer, gate))
            done = process.run(
                [*_launcher(), specification, *argv],
                cwd=box.workspace / box.cwd,
                env=env,
                on_start=lambda pid: _into_group(pid, opener),
                **with_descriptors(bounds, writer, gate),
            )
            os.set_blocking(reader, False)
            started = _started(reader)
        finally:
            for fd in (reader, writer, gate, opener):
                os.close(fd)
        if not started and not done.timed_out:
            complaint = (done.stderr or done.output).decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise SandboxError(f"no sandbox for {box.workspace}: {complaint}", hint="run `agentforge doctor`")
        return done

    def _specification(self, box: Box, own: Path, *, reaches: bool, descriptors: tuple[int, int]) -> str:
        home = Path(self.environ.get("HOME") or Path.home())
        readable = [*_system(), *map(str, toolchain_paths(self.environ, home=home, interpreters=box.interpreters))]
        readable += [str(source) for source, _ in box.overlays]
        readable += [str(path) for path in box.read_only if not path.is_relative_to(box.mount_at)]
        readable += ["/etc/resolv.conf", "/run/systemd/resolve"] if reaches else []
        outside = [str(path) for path in box.writable_paths if not path.is_relative_to(box.mount_at)]
        writable = [*_WRITABLE, str(own), *outside]
        (writable if box.writable else readable).append(str(box.workspace))
        writable += [str(box.workspace / path.relative_to(box.mount_at)) for path in box.opened]
        return json.dumps(
            {
                "readable": readable, "writable": writable, "network": reaches, "limits": limits(), "status": descriptors[0],
                "gate": descriptors[1],
                "filter": program(sockets="no-unix").hex(), "filter_without_namespace": program(sockets="none").hex(),
            }
        )  # fmt: skip


@cache
def missing_because() -> str:
    """Say in words why Landlock cannot be used here; empty when it can. Tried once per process."""
    try:
        from landlockpy import abi_version
    except ImportError:
        return f"landlockpy is not installed ({command_for('landlock')})"
    except OSError as exc:
        return f"landlockpy cannot be loaded: {exc}"
    if abi_version() < _OLDEST_ABI:
        return "the kernel has no Landlock, or one that is too old (Linux 6.2 is needed)"
    with tempfile.TemporaryDirectory(prefix="agentforge-probe-") as folder:
        place = Path(folder).resolve()
        try:
            done = Landlocked(environ={}).run(["true"], box=Box(workspace=place, mount_at=place), timeout_s=10)
        except SandboxError as exc:
            return exc.message
    return "" if done.exit_code == 0 else f"a command that should succeed ended with {done.exit_code}"


def _launcher() -> list[str]:
    found = find_spec("agentforge.workspace.sandbox.landlock_launch")
    return [sys.executable, "-I", str(found.origin if found else "")]


def _into_group(pid: int, opener: int) -> None:
    group = own_group()
    if group is not None:
        group.add(pid)
    os.write(opener, b"1")


def _started(reader: int) -> bool:
    try:
        return bool(os.read(reader, 1))
    except BlockingIOError:
        return False


@cache
def _system() -> tuple[str, ...]:
    etc = [str(path) for path in Path("/etc").iterdir() if path.name not in _OF_ETC_SECRET]
    return (*_READABLE, *sorted(etc))


@contextmanager
def _kept(box: Box, ward: ProtectedPaths, before: Guarded) -> Iterator[set[str]]:
    """Set secrets aside while a command runs; afterwards put them and every protected file back as they were.

    Yields:
        The protected paths that were put back, filled at the end.
    """
    _refuse_what_cannot_be_kept(box, before)
    frozen = {str(path.relative_to(box.mount_at)) for path in box.read_only if path.is_relative_to(box.mount_at)}
    kept = (
        {path: _content(box.workspace / path) for path in {*before.protected, *frozen}} if box.changes_workspace else {}
    )
    undone: set[str] = set()
    aside = Path(tempfile.mkdtemp(prefix=".aside-", dir=box.workspace.parent)) if before.masked else None
    moved = {path: aside / str(number) for number, path in enumerate(sorted(before.masked)) if aside is not None}
    try:
        for path, place in moved.items():
            (box.workspace / path).rename(place)
        yield undone
    finally:
        undone |= set(ward.undo(before, named=box.named)) if box.changes_workspace else set()
        for path, content in kept.items():
            if path not in moved and _content(box.workspace / path) != content:
                _restore(box.workspace / path, content)
                undone.add(path)
        for path, place in moved.items():
            _give_back(place, box.workspace / path)
        if aside is not None:
            shutil.rmtree(aside)


def _refuse_what_cannot_be_kept(box: Box, before: Guarded) -> None:
    whole = [path for path in before.protected if path.rpartition("/")[2] == ".git" and (box.workspace / path).is_dir()]
    if whole and box.changes_workspace:
        raise SandboxError(f"Landlock cannot protect {box.workspace / whole[0]}", hint=_HINT)
    if before.masked and box.workspace == box.mount_at:
        first = sorted(before.masked)[0]
        raise SandboxError(f"Landlock cannot hide {box.workspace / first} from commands", hint=_HINT)


_Content = dict[str, tuple[int, bytes | str]]
"""By path relative to what is kept ("" for itself): mode, and bytes or where the link leads; folders hold b""."""


def _content(path: Path) -> _Content:
    found: _Content = {}
    total = 0
    for one in [path, *(sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else ())]:
        name = str(one.relative_to(path)) if one != path else ""
        if one.is_symlink():
            found[name] = (0, str(one.readlink()))
        elif one.is_dir():
            found[name] = (one.stat().st_mode, b"")
        elif one.is_file():
            total += one.stat().st_size
            if total > _LARGEST_KEPT_BYTES:
                raise SandboxError(f"Landlock cannot protect {path}: it is too large", hint=_HINT)
            found[name] = (one.stat().st_mode, one.read_bytes())
    return found


def _restore(path: Path, content: _Content) -> None:
    remove_tree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, (mode, data) in sorted(content.items()):
        place = path / name if name else path
        if isinstance(data, str):
            place.symlink_to(data)
        elif stat.S_ISDIR(mode):
            place.mkdir()
        else:
            place.write_bytes(data)
            place.chmod(stat.S_IMODE(mode))


def _give_back(place: Path, home: Path) -> None:
    if place.exists() or place.is_symlink():
        remove_tree(home)
        home.parent.mkdir(parents=True, exist_ok=True)
        place.rename(home)
