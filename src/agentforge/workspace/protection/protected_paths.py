"""What in a workspace commands may not write or read, found at any depth; and what they made of it all the same, undone."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from agentforge.errors import SandboxError
from agentforge.frozen import dataclass
from agentforge.guarded import is_masked, is_ordinary, is_protected
from agentforge.workspace.files.file_access import remove_tree

_BARE_REPOSITORY = frozenset({"HEAD", "objects", "refs"})
_FOLDERS_HIDDEN = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
_SPECIAL = (stat.S_IFSOCK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFCHR)

Identity = tuple[int, int, int, int]
"""Device, inode, kind, and time of change of what is no folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What stands in a workspace, by path relative to it.

    Attributes:
        protected: read-only: git's and the harness's folders, files that run something later.
        masked: out of sight: secrets, sockets, pipes and devices, and folders that cannot be read.
        folders: those of `masked` that are folders.
        links: where those of `protected` lead that are links.
    """

    protected: Mapping[str, Identity]
    masked: Mapping[str, Identity]
    folders: frozenset[str]
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """One folder: what is guarded in it, and where to look on; `changed` is its device, its inode and its time of change."""

    changed: tuple[int, int, int]
    protected: tuple[str, ...]
    masked: tuple[str, ...]
    folders: tuple[str, ...]


class ProtectedPaths:
    """Watches one workspace; folders that were not touched since the last look are not read again."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, _Listing] = {}

    def moved_from(self, other: Path) -> None:
        """Remember what is known of a workspace whose folders were moved here; those that were written to are read anew."""
        known = protected_paths_of(other)
        self._known, known._known = known._known, {}

    def look(self, *, named: tuple[str, ...] = ()) -> Guarded:
        """Find what is guarded now.

        Args:
            named: protected files that may be written because they are named (by the specification).
        """
        protected: dict[str, Identity] = {}
        masked: dict[str, Identity] = {}
        hidden: set[str] = set()
        seen: dict[str, _Listing] = {}
        pending = [""]
        while pending:
            folder = pending.pop()
            listing = self._listed(folder)
            if listing is None:
                masked |= self._identified((folder,))
                hidden.add(folder)
                continue
            seen[folder] = listing
            opened = {name for name in listing.protected if is_protected(name) and not is_protected(name, named=named)}
            protected |= self._identified(name for name in listing.protected if name not in opened)
            masked |= self._identified(name for name in listing.masked if name not in opened)
            pending += [*listing.folders, *(name for name in opened if self._is_dir(name))]
        self._known = seen
        hidden |= {name for name, one in masked.items() if stat.S_ISDIR(one[2])}
        links = {name: str((self._root / name).readlink()) for name, one in protected.items() if stat.S_ISLNK(one[2])}
        return Guarded(protected=protected, masked=masked, folders=frozenset(hidden), links=links)

    def undo(self, before: Guarded, *, named: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Remove protected places that came after `before`, and bring back those that were moved away.

        Returns:
            The paths that were removed or brought back, sorted.
        Raises:
            SandboxError: one cannot be removed.
        """
        now = self.look(named=named).protected
        stray = {path: one for path, one in now.items() if _differ(before.protected.get(path), one)}
        gone = {path: one for path, one in before.protected.items() if _differ(one, now.get(path))}
        homes = {one[:3]: path for path, one in gone.items() if path not in before.links}
        try:
            moved = {path: homes[one] for path, one in self._whereabouts(homes.keys())} if homes else {}
            for path in sorted(stray.keys() - moved.keys()):
                remove_tree(self._root / path)
            for path, home in sorted(moved.items(), reverse=True):
                (self._root / home).parent.mkdir(parents=True, exist_ok=True)
                (self._root / path).rename(self._root / home)
            lost = [path for path in gone if path in before.links]
            for path in lost:
                (self._root / path).parent.mkdir(parents=True, exist_ok=True)
                (self._root / path).symlink_to(before.links[path])
        except OSError as exc:
            raise SandboxError(
                f"a command left a protected file that cannot be undone: {exc}", hint="look at the workspace by hand"
            ) from exc
        return tuple(sorted({*stray, *moved.values(), *lost}))

    def _whereabouts(self, wanted: Collection[tuple[int, int, int]]) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """Find inodes in the whole workspace, whatever they are called now."""
        for folder, folders, files in os.walk(self._root):
            for name in (*folders, *files):
                info = Path(folder, name).lstat()
                key = (info.st_dev, info.st_ino, stat.S_IFMT(info.st_mode))
                if key in wanted:
                    yield str(Path(folder, name).relative_to(self._root)), key

    def _listed(self, folder: str) -> _Listing | None:
        """The listing of a folder; None when it cannot be read. A folder's time of change cannot be forged."""
        try:
            info = os.lstat(f"{self._root}/{folder}")  # a Path for each of many folders is slow
            changed = (info.st_dev, info.st_ino, info.st_ctime_ns)
            known = self._known.get(folder)
            if known is not None and known.changed == changed:
                return known
            with os.scandir(self._root / folder) as entries:
                found = list(entries)
        except PermissionError:
            return None
        except (FileNotFoundError, NotADirectoryError):
            return _Listing(changed=(0, 0, 0), protected=(), masked=(), folders=())
        return _sorted_out(folder, found, changed=changed)

    def _identified(self, names: Iterable[str]) -> dict[str, Identity]:
        found: dict[str, Identity] = {}
        for name in names:
            try:
                info = (self._root / name).lstat()
            except FileNotFoundError:
                continue
            kind = stat.S_IFMT(info.st_mode)
            found[name] = (info.st_dev, info.st_ino, kind, 0 if stat.S_ISDIR(kind) else info.st_ctime_ns)
        return found

    def _is_dir(self, name: str) -> bool:
        return stat.S_ISDIR((self._root / name).lstat().st_mode)


@lru_cache(maxsize=16)
def protected_paths_of(workspace: Path) -> ProtectedPaths:
    """Give the ward of a workspace; its memory lasts as long as the process."""
    return ProtectedPaths(workspace)


def _sorted_out(folder: str, entries: list[os.DirEntry[str]], *, changed: tuple[int, int, int]) -> _Listing:
    prefix = f"{folder}/" if folder else ""
    protected: list[str] = []
    masked: list[str] = []
    folders: list[str] = []
    bare = folder and {entry.name for entry in entries} >= _BARE_REPOSITORY
    for entry in entries:
        path = prefix + entry.name
        if is_ordinary(entry.name) and not bare:
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif not entry.is_file(follow_symlinks=False) and _is_special(entry):
                masked.append(path)
            continue
        if is_protected(path) or (bare and entry.name in {"config", "hooks", "HEAD"}):
            protected.append(path)
        elif entry.is_dir(follow_symlinks=False):
            (masked if entry.name in _FOLDERS_HIDDEN else folders).append(path)
        if not entry.is_dir(follow_symlinks=False) and (is_masked(path) or _is_special(entry)):
            masked.append(path)
    return _Listing(changed=changed, protected=tuple(protected), masked=tuple(masked), folders=tuple(folders))


def _is_special(entry: os.DirEntry[str]) -> bool:
    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
        return False
    return stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode) in _SPECIAL


def _differ(before: Identity | None, now: Identity | None) -> bool:
    """Whether a path holds something else than it did; only links are judged by time: mounts hold everything else."""
    if before is None or now is None or before[:3] != now[:3]:
        return True
    return stat.S_ISLNK(now[2]) and before != now
