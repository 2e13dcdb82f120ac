"""What a command sees under bubblewrap, as arguments: the machine read-only, home and sockets hidden, the workspace on top."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from agentforge.errors import SandboxError
from agentforge.workspace.protection.protected_paths import Guarded
from agentforge.workspace.sandbox.box import Box
from agentforge.workspace.sandbox.toolchain import outermost, toolchain_paths

_HIDDEN = ("/tmp", "/var/tmp", "/run", "/home", "/root")
_SHOWN_AGAIN = ("/run/current-system",)  # NixOS keeps its programs here
_RESOLVER = ("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf")
_SECRETS = (
    *("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh"),
    *("/etc/ssl/private", "/etc/krb5.keytab", "/etc/kubernetes", "/etc/rancher", "/etc/wireguard", "/etc/docker"),
    *("/etc/NetworkManager/system-connections", "/var/lib/docker", "/var/lib/kubelet", "/var/lib/containerd"),
)
# The kernel lets root's number write here without any capability; what it is set to holds for the whole machine.
_OF_THE_KERNEL = ("acpi", "bus", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
_MOST_GUARDED = 2500


def arguments(box: Box, *, environ: tuple[tuple[str, str], ...], hidden: tuple[Path, ...], network: bool) -> list[str]:
    """Build the mounts of a box without what is guarded in its workspace.

    Args:
        environ: the user's environment, sorted: it says where home and toolchains are.
        hidden: folders out of sight besides those of the box.
        network: whether the machine's network is shared.
    Raises:
        SandboxError: the box cannot be built.
    """
    _refuse_bad_mount_point(box)
    own = () if box.workspace == box.mount_at else (box.workspace,)
    fixed = _machine(environ, (*hidden, *box.hidden, *own), box.interpreters, box.mount_at, network)
    return [*fixed, *_masked_sockets(), *_workspace_mounts(box)]


def guards(box: Box, guarded: Guarded) -> list[str]:
    """Build the mounts that protect and mask what was found in the workspace; they come after all others.

    Raises:
        SandboxError: there is more of it than a command line holds.
    """
    if len(guarded.protected) + len(guarded.masked) > _MOST_GUARDED:
        raise SandboxError(
            f"{box.workspace} holds more than {_MOST_GUARDED} secrets and protected files",
            hint="are dependencies or keys checked in? remove them from the repository",
        )
    given: list[str] = []
    covered = tuple(str(path) for _, path in box.overlays)
    for path in sorted(guarded.protected) if box.changes_workspace else ():
        if path not in guarded.links and not _under(str(box.mount_at / path), covered):
            given += ["--ro-bind", str(box.workspace / path), str(box.mount_at / path)]
    for path in sorted(guarded.masked):
        if not _under(str(box.mount_at / path), covered):
            given += _mask_inside(box, path, folder=path in guarded.folders)
    return given


def _mask_inside(box: Box, path: str, *, folder: bool) -> list[str]:
    place = str(box.mount_at / path)
    if folder:
        return ["--tmpfs", place, "--remount-ro", place]
    source = box.workspace / path
    if not source.is_symlink():
        return ["--ro-bind", "/dev/null", place]
    target = source.resolve()
    if not target.is_file():
        return []
    inside = target.is_relative_to(box.workspace.resolve())
    shown = box.mount_at / target.relative_to(box.workspace.resolve()) if inside else target
    return ["--ro-bind", "/dev/null", str(shown)]


@lru_cache(maxsize=32)
def _machine(
    environ: tuple[tuple[str, str], ...],
    more_hidden: tuple[Path, ...],
    interpreters: tuple[Path, ...],
    mount_at: Path,
    network: bool,  # a key of the cache
) -> tuple[str, ...]:
    """Everything but the workspace: once per checkout, not once per command."""
    home = Path(dict(environ).get("HOME") or Path.home())
    own = dict(environ).get("AGENTFORGE_HOME")  # signing keys, other tasks
    hidden = _hidden_roots((home, *((Path(own),) if own else ()), *more_hidden))
    given = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for name in _OF_THE_KERNEL:
        given += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for path in hidden:
        given += ["--tmpfs", str(path)]
    for secret in _SECRETS:
        given += _mask(Path(secret), hidden)
    system = [Path(path) for path in (*_SHOWN_AGAIN, *(_RESOLVER if network else ())) if Path(path).exists()]
    for path in (*system, *_installations(environ, home, interpreters)):
        if inside(path, hidden) and not path.is_relative_to(mount_at):
            given += ["--ro-bind", str(path), str(path)]
    given += ["--dir", str(home)] if inside(home, hidden) else []
    return tuple(given)


@lru_cache(maxsize=8)
def _installations(
    environ: tuple[tuple[str, str], ...], home: Path, interpreters: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Where toolchains lie. Some hundred file lookups that no checkout changes: once per task."""
    return toolchain_paths(dict(environ), home=home, interpreters=interpreters)


def is_hidden(path: Path, *, environ: Mapping[str, str], interpreters: tuple[Path, ...]) -> bool:
    """Whether a box takes a file of the machine away, and none of the installations that it shows again holds it."""
    home = Path(environ.get("HOME") or Path.home())
    own = environ.get("AGENTFORGE_HOME")
    hidden = _hidden_roots((home, *((Path(own),) if own else ())))
    shown = toolchain_paths(environ, home=home, interpreters=interpreters)
    return inside(path, hidden) and not any(path.is_relative_to(root) for root in shown)


def _refuse_bad_mount_point(box: Box) -> None:
    if not box.mount_at.is_absolute() or box.mount_at == Path("/"):
        raise SandboxError(f"cannot mount the workspace at {box.mount_at}", hint="the path must be absolute and not /")
    if not box.workspace.is_dir():
        raise SandboxError(f"the workspace {box.workspace} does not exist", hint="resume the task to rebuild it")


def _hidden_roots(more: tuple[Path, ...]) -> tuple[Path, ...]:
    named = {Path(path) for path in _HIDDEN} | set(more)
    return outermost(path.resolve() for path in named if path.is_dir() and path.resolve() != Path("/"))


def inside(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a folder that covers `roots` takes the path away under the name that it is asked for by."""
    text = str(path)  # pathlib's own comparison takes twenty times as long, and there are hundreds for a box
    return any(text.startswith(f"{str(root).rstrip('/')}/") and path != root for root in roots)


def _mask(secret: Path, hidden: tuple[Path, ...]) -> list[str]:
    if not os.access(secret, os.R_OK) or secret.is_symlink() or inside(secret, hidden) or secret in hidden:
        return []
    return ["--tmpfs", str(secret)] if secret.is_dir() else ["--ro-bind", "/dev/null", str(secret)]


def _masked_sockets() -> list[str]:
    """Mask the sockets that services listen on outside the hidden folders: a network namespace does not close them."""
    given: list[str] = []
    for path in _listening():
        if not _under(path, (*_HIDDEN, "/var/run", "/proc", "/dev", "/sys")):
            given += ["--ro-bind", "/dev/null", path]
    return given


def _listening() -> Iterator[str]:
    try:
        table = Path("/proc/net/unix").read_bytes()
    except OSError:  # no /proc, or a kernel without unix sockets
        return
    for path in sorted({line[line.index(b" /") + 1 :] for line in table.splitlines() if b" /" in line}):
        name = os.fsdecode(path)
        try:
            if stat.S_ISSOCK(os.lstat(name).st_mode) and os.path.realpath(name) == name:
                yield name
        except OSError:  # removed, out of our reach, or in another mount namespace
            continue


def _under(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)


def _workspace_mounts(box: Box) -> list[str]:
    given = ["--bind" if box.writable else "--ro-bind", str(box.workspace), str(box.mount_at)]
    for path in box.writable_paths:
        given += ["--bind", str(_source(box, path)), str(path)]
    for path in box.read_only:
        given += ["--ro-bind", str(_source(box, path)), str(path)]
    for source, destination in box.overlays:
        _prepare_mount_point(box, source, destination)
        given += ["--ro-bind", str(source), str(destination)]
    return given


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
