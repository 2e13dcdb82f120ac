"""After a command: which files it touched, what of it lies within the scope, and how the rest is put back.

How the files of a folder look from outside: enough to see that one was touched, without reading or following anything.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from agentforge.frozen import dataclass
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.command import Checkout, refused as git_refused
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.tree_snapshot import is_junk
from agentforge.workspace.protection.touched_names import TouchedNames

MayWrite = Callable[[str], str | None]
What = Literal["changed", "new", "deleted"]
Lines = tuple[int, int] | None
"""Added and removed; None for a file without lines."""

_LARGEST_COUNTED_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A file that a command touched.

    Attributes:
        path: relative to the workspace; bytes that are not UTF-8 are surrogates.
        lines: of a file that was kept.
        refusal: why it was put back or removed, "" when it was kept.
    """

    path: str
    what: What
    lines: Lines = None
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of the files that a command touched.

    Attributes:
        kept: they lie within the scope.
        refused: they are again as they were before.
        swept: how many left-overs outside the scope, which git ignores, were removed.
    """

    kept: tuple[Touched, ...] = ()
    refused: tuple[Touched, ...] = ()
    swept: int = 0


class Settlement:
    """One command's traces in the workspace.

    Args:
        index: holds the tree that the workspace had before.
        before, now: how the files looked.
        again: how they look after something was put back.
    """

    def __init__(
        self, git: Git, root: Path, index: Path, *, before: Looks, now: Looks, again: Callable[[], Looks]
    ) -> None:
        self._git = git
        self._root = root
        self._index = index
        self._before = before
        self._now = now
        self._again = again

    def settle(self, may_write: MayWrite) -> Settled:
        """Put back what may not be written; say what stays and what does not.

        Raises:
            OSError, RepositoryError: something could not be put back.
        """
        names = sorted(name for name in self._now.keys() | self._before.keys() if self._touched(name))
        reasons = {name: self._refusal(name, may_write) for name in names if self._is_file(name)}
        kept = [name for name, reason in reasons.items() if reason is None]
        refused = {name: reason for name, reason in reasons.items() if reason is not None}
        self._restore_modes(names, kept=frozenset(kept))
        steering: dict[str, Lines] = {name: None for name in refused if _is_steering(name)}
        self._put_back(steering, steering)
        edited = steering | (self._edited() if any(name in self._before for name in reasons) else {})
        self._put_back(refused, edited)
        self._keep_folders(without=kept)
        return self._told(kept, refused, edited)

    def _touched(self, name: str) -> bool:
        return self._now.get(name) != self._before.get(name)

    def _is_file(self, name: str) -> bool:
        """Whether it is or was something else than a folder."""
        looks = (self._before.get(name), self._now.get(name))
        return any(look is not None and not is_folder(look) for look in looks)

    def _refusal(self, name: str, may_write: MayWrite) -> str | None:
        look = self._now.get(name)
        if name not in self._before and is_junk(name):
            return "a cache"
        try:
            name.encode()
        except UnicodeEncodeError:
            return "its name is not UTF-8"
        if look is not None and is_link(look) and _leads_out(name, str((self._root / name).readlink())):
            return f"{name} is a link that leads out of the workspace"
        if look is not None and not (is_link(look) or is_regular(look) or is_folder(look)):
            return f"{name} is no regular file"
        return may_write(name)

    def _restore_modes(self, names: Iterable[str], *, kept: frozenset[str]) -> None:
        """Folders and refused files get their permissions back; what is kept stays open to its owner."""
        for name in names:
            look, before = self._now.get(name), self._before.get(name)
            if look is None or not (is_folder(look) or is_regular(look)):
                continue
            mode = permissions(look) | (0o700 if is_folder(look) else 0o600)
            if before is not None and name not in kept and _same_kind(look, before):
                mode = permissions(before)
            (self._root / name).chmod(mode)

    def _edited(self) -> dict[str, Lines]:
        """The recorded files whose content, kind or executable bit is another one now."""
        plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")
        listing = os.fsdecode(self._call("diff", "--numstat", "-z", *plain))
        rows = (row.split("\t", 2) for row in listing.split("\0") if row)
        return {path: None if added == "-" else (int(added), int(removed)) for added, removed, path in rows}

    def _put_back(self, refused: Iterable[str], edited: Iterable[str]) -> None:
        recorded = [name for name in refused if name in edited and name in self._before]
        for name in refused:
            replaced = is_folder(self._before.get(name))
            if name in self._now and (name in edited or name not in self._before or replaced):
                remove_tree(self._root / name)
        made = [name for name, look in self._now.items() if is_folder(look) and name not in self._before]
        for name in sorted(made, reverse=True):
            with suppress(OSError):  # it holds what was kept, or went with its parent
                (self._root / name).rmdir()
        if recorded:
            given = b"".join(os.fsencode(name) + b"\0" for name in recorded)
            self._call("checkout-index", "-f", "-z", "--stdin", stdin=given)

    def _keep_folders(self, *, without: Iterable[str]) -> None:
        """Make the folders that are gone, unless they went with what they held."""
        for name, look in self._before.items():
            gone = is_folder(look) and self._touched(name) and not (self._root / name).exists()
            if gone and not any(one.startswith(f"{name}/") for one in without):
                (self._root / name).mkdir(parents=True)

    def _told(self, kept: list[str], refused: dict[str, str], edited: dict[str, Lines]) -> Settled:
        after = self._again() if kept else {}
        stayed = [name for name in kept if after.get(name) != self._before.get(name)]
        stayed = [name for name in stayed if name in edited or name not in self._before]
        fresh = [name for name in refused if name not in self._before and not is_junk(name)]
        ignored = self._ignored(fresh)
        told = {name for name in refused if name in edited or self._is_other_kind(name)} | (set(fresh) - ignored)
        return Settled(
            kept=tuple(
                Touched(path=name, what=self._what(name), lines=edited.get(name, self._lines(name))) for name in stayed
            ),
            refused=tuple(
                Touched(path=name, what=self._what(name), refusal=reason)
                for name, reason in refused.items()
                if name in told
            ),
            swept=len(ignored),
        )

    def _what(self, name: str) -> What:
        if name not in self._before:
            return "new"
        return "changed" if name in self._now else "deleted"

    def _is_other_kind(self, name: str) -> bool:
        """Whether a folder became something else, or the permissions are others."""
        before, now = self._before.get(name), self._now.get(name)
        if before is None or now is None:
            return False
        return is_folder(before) or (is_regular(before) and permissions(before) != permissions(now))

    def _lines(self, name: str) -> Lines:
        """The lines of a new file."""
        path = self._root / name
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_COUNTED_BYTES:
            return None
        data = path.read_bytes()
        return None if b"\0" in data else (len(data.splitlines()), 0)

    def _ignored(self, names: list[str]) -> set[str]:
        """Those that git ignores, by rules that are put back already."""
        if not names:
            return set()
        given = b"".join(os.fsencode(name) + b"\0" for name in names)
        found = self._call("check-ignore", "-z", "--stdin", stdin=given, accept=(0, 1, 128))
        return {os.fsdecode(name) for name in found.split(b"\0") if name} & set(names)

    def _call(self, *arguments: str, stdin: bytes | None = None, accept: tuple[int, ...] = (0,)) -> bytes:
        at = Checkout(git_dir=self._git.git_dir_of(self._root), work_tree=self._root, index=self._index)
        done = self._git.command.run(*arguments, at=at, stdin=stdin)
        if done.exit_code not in accept:
            raise git_refused(arguments, done)
        return done.output


def _is_steering(path: str) -> bool:
    """Whether it changes how git compares other files: it must be right before anything is compared."""
    return path.rpartition("/")[2] == ".gitattributes"


def _same_kind(look: Look, other: Look) -> bool:
    return is_folder(look) == is_folder(other) and is_regular(look) == is_regular(other)


def _leads_out(name: str, target: str) -> bool:
    led = os.path.normpath(os.path.join(os.path.dirname(name), target))  # noqa: PTH118, PTH120 # text, not a file
    return led.startswith(("/", "../")) or led == ".."


Look = tuple[int, ...]
"""Mode of a folder (all of it where one looks closely); mode, size, times of change (ns) and inode of everything else."""
Looks = dict[str, Look]
"""By path relative to the folder, `/` between the parts; names that are not UTF-8 hold surrogates."""


def scan(
    root: Path, *, without: Collection[str] = (), closely: bool = False, followed: TouchedNames | None = None
) -> Looks:
    """Look at everything below a folder but its own `.git`. The time of a change cannot be set by who makes it.

    Args:
        without: folders, as the keys of the result name them, that are not entered.
        closely: a folder has the look of a file, which changes with what is put into it; a file's changes when it is read, too.
        followed: is told of every folder before it is looked at.
    Side effects: a folder that cannot be entered is opened to its owner; its look is the one that it had.
    """
    looks: Looks = {}
    pending = [("", str(root))]
    while pending:
        prefix, folder = pending.pop()
        if followed is not None:
            followed.follow(prefix, folder)
        for entry in _entries(folder):
            name = prefix + entry.name
            info = entry.stat(follow_symlinks=False)
            whole = _whole(info)
            if not stat.S_ISDIR(info.st_mode):
                looks[name] = (*whole, info.st_atime_ns) if closely else whole
                if info.st_nlink > 1 and followed is not None:
                    followed.doubt()
            elif name != ".git":
                looks[name] = whole if closely else (info.st_mode,)
                if name not in without:
                    pending.append((name + "/", entry.path))
    looks.pop(".git", None)
    return looks


def look_at(path: str) -> Look | None:
    """How one file or folder looks, as `scan` tells it; None when there is nothing."""
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (info.st_mode,) if stat.S_ISDIR(info.st_mode) else _whole(info)


def look_closely(path: Path) -> Look | None:
    """How one file or folder looks, as `scan` tells it that looks closely; None when there is nothing."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        return None
    return _whole(info) if stat.S_ISDIR(info.st_mode) else (*_whole(info), info.st_atime_ns)


def _whole(info: os.stat_result) -> Look:
    return (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def is_folder(look: Look | None) -> bool:
    """Whether this is how a folder looks; nothing is no folder."""
    return look is not None and stat.S_ISDIR(look[0])


def is_link(look: Look) -> bool:
    """Whether this is how a symbolic link looks."""
    return stat.S_ISLNK(look[0])


def is_regular(look: Look | None) -> bool:
    """Whether this is how a file with content looks."""
    return look is not None and stat.S_ISREG(look[0])


def permissions(look: Look) -> int:
    """The permission bits."""
    return stat.S_IMODE(look[0])


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        return os.scandir(folder)
    except PermissionError:
        Path(folder).chmod(stat.S_IRWXU)
        return os.scandir(folder)
