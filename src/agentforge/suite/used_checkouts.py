"""Checkouts of large repositories that were used: made equal to another tree instead of being written anew.

Writing 50,000 files costs a processor fifteen seconds; looking at them half a second. What a run touched is found by times of
change, which nobody can set, and is thrown away, folders included, so that nothing passes from one run to the next.
"""

from __future__ import annotations

import atexit
import dataclasses
import json
import os
import shutil
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from agentforge.errors import AgentForgeError
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.tree_snapshot import FEWEST_FILES, is_large
from agentforge.workspace.protection.protected_paths import protected_paths_of
from agentforge.workspace.protection.reconciliation import Look, Looks, is_folder, is_link, look_closely, scan

_MOST_KEPT = 2
_LEAST_FREE = 0.1
"""Share of the disk that stays free when a task leaves checkouts for the next one."""
_RECORD = "looks.json"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_REBUILT = ".agentforge-rebuilt"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UsedCheckout:
    """A folder with a `tree` of files and the `index` that git wrote them by.

    Attributes:
        looks: of everything in it, from before it was used.
        young: how what was made to look old looked before that.
    """

    folder: Path
    tree: str
    looks: Looks
    young: Looks = dataclasses.field(default_factory=dict)

    def aged(self, before: Looks, after: Looks) -> None:
        """Take note that everything was made to look old; what had been touched until then stays so."""
        for name, look in before.items():
            if self.looks.get(name) == look:
                self.young[name], self.looks[name] = look, after[name]


class Shelf:
    """The used checkouts of one task.

    Args:
        fewest: files that a checkout has to have to be kept.
        left: a folder on the same disk, in which a task leaves some for the next task; None = nothing is left.
    """

    def __init__(self, *, fewest: int = FEWEST_FILES, left: Path | None = None) -> None:
        self._fewest = fewest
        self._left = left
        self._kept: list[UsedCheckout] = []
        self._lock = threading.Lock()

    def check_out(self, git: Git, tree: str, folder: Path) -> UsedCheckout | None:
        """Put the files of a tree into `folder/tree`.

        Returns:
            What `put_back` takes when the checkout has been used; None = it is too small to be kept.
        """
        with self._lock:
            used = self._kept.pop() if self._kept else None
        used = used or self._of_earlier_task(folder / "earlier")
        place, index = folder / "tree", folder / "index"
        looks = _made_equal(used, git, tree, folder) if used is not None else None
        if looks is None:
            remove_tree(place)
            index.unlink(missing_ok=True)
            git.materialise(tree, place, index=index)
            looks = scan(place, closely=True) if is_large(index, fewest=self._fewest) else {}
        if len(looks) < self._fewest:
            return None
        _LENT[place] = used = UsedCheckout(folder=folder, tree=tree, looks=looks)
        return used

    def put_back(self, used: UsedCheckout) -> bool:
        """Keep a checkout for the next use; False = there are enough, and it is the caller's to remove."""
        _LENT.pop(used.folder / "tree", None)
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                return False
            self._kept.append(used)
            return True

    def clear(self) -> None:
        """Leave what is kept for the next task, or remove it."""
        while self._kept:
            used = self._kept.pop()
            try:
                stays = self._leave(used)
            except OSError:
                stays = False
            if not stays:
                remove_tree(used.folder)

    def _leave(self, used: UsedCheckout) -> bool:
        """Move a checkout to where the next task finds it; False = there are enough, or there is too little room."""
        if self._left is None or not used.folder.is_dir() or len(list(self._left.glob("*"))) >= _MOST_KEPT:
            return False
        self._left.mkdir(parents=True, exist_ok=True)
        disk = shutil.disk_usage(self._left)
        if disk.free < disk.total * _LEAST_FREE:
            return False
        told = {"boot": _BOOT.read_text("ascii"), "tree": used.tree, "looks": used.looks, "young": used.young}
        (used.folder / _RECORD).write_text(json.dumps(told), "ascii")
        used.folder.rename(self._left / used.folder.name)
        return True

    def _of_earlier_task(self, folder: Path) -> UsedCheckout | None:
        """Take what an earlier task has left; who moves it has it."""
        for left in self._left.glob("*") if self._left is not None else ():
            try:
                left.rename(folder)
            except OSError:  # another task was faster
                continue
            used = _recorded(folder)
            if used is not None:
                return used
            remove_tree(folder)
        return None


def _recorded(folder: Path) -> UsedCheckout | None:
    """A checkout with its record; None after a start of the machine: a file may be lost whose times say nothing of it."""
    try:
        told = json.loads((folder / _RECORD).read_bytes())
        if told["boot"] != _BOOT.read_text("ascii"):
            return None
        looks, young = ({name: tuple(look) for name, look in told[key].items()} for key in ("looks", "young"))
        return UsedCheckout(folder=folder, tree=str(told["tree"]), looks=looks, young=young)
    except (OSError, ValueError, KeyError):
        return None


_LENT: dict[Path, UsedCheckout] = {}
"""What is in use, by the folder of its files."""


def age(folder: Path, then: float) -> None:
    """Let everything below a folder be as old as `then`, in seconds since 1970; links stay as they are.

    A used checkout is none the worse for it: what nobody has touched before counts as untouched.
    """
    before = scan(folder, closely=True)
    named = (f"{folder}/{name}" for name, look in before.items() if not is_link(look))
    for path in (*named, *map(str, _of_clone(folder))):
        os.utime(path, (then, then))
    used = _LENT.get(folder)
    if used is not None:
        used.aged(before, scan(folder, closely=True))


def _of_clone(folder: Path) -> Iterator[Path]:
    """The folder's own `.git` with everything in it, which no look tells of."""
    clone = folder / ".git"
    if clone.is_dir():
        yield clone
        yield from (path for path in clone.rglob("*") if not path.is_symlink())


@lru_cache(maxsize=4)
def shelf_of(scratch: Path, left: Path | None = None) -> Shelf:
    """The shelf of a task's scratch folder; it is cleared when this process ends.

    Args:
        left: where tasks leave checkouts for each other.
    """
    shelf = Shelf(left=left)
    atexit.register(shelf.clear)
    return shelf


def _made_equal(used: UsedCheckout, git: Git, tree: str, folder: Path) -> Looks | None:
    """Move what no run has touched into a new folder, and let git write the rest.

    Returns:
        How everything looks; None when it has to be written whole.
    Side effects: `used.folder` is gone.
    """
    try:
        changed = {item.path for item in git.changed(used.tree, tree)}
        if any(name.rpartition("/")[2] == ".gitattributes" for name in changed):
            return None  # files that are the same would be written otherwise
        known, other = _drop_touched(used.folder / "tree", used)
        _moved(used.folder / "tree", folder / "tree", known=used.looks, prefix="")
        (used.folder / "index").rename(folder / "index")
        protected_paths_of((folder / "tree").resolve()).moved_from((used.folder / "tree").resolve())
        git.materialise(tree, folder / "tree", index=folder / "index")
        if used.young:  # all of it got other times
            return scan(folder / "tree", closely=True)
        return _looked_again(folder / "tree", known, other | changed)
    except (OSError, AgentForgeError):
        return None
    finally:
        remove_tree(used.folder)


def _looked_again(root: Path, known: Looks, other: set[str]) -> Looks:
    """The looks of everything, where some names and the folders around them look otherwise than known."""
    other = {name[:end] for name in other for end in (*_slashes(name), len(name))}
    again = {name: look_closely(root / name) for name in other}
    kept = {name: look for name, look in known.items() if name not in other}
    return kept | {name: look for name, look in again.items() if look is not None}


def _slashes(name: str) -> Iterator[int]:
    return (at for at, letter in enumerate(name) if letter == "/")


def _drop_touched(root: Path, used: UsedCheckout) -> tuple[Looks, set[str]]:
    """Remove what is new or looks otherwise; a folder that was written to is made anew around what is left in it.

    What was made to look old gets its times back, because git's index knows a file by the time of its last change.

    Returns:
        How everything looked, and the names of what is gone, or looks otherwise once the top folder is moved.
    """
    now, looks = scan(root, closely=True), used.looks
    for name, look in used.young.items():
        if now.get(name) == looks[name] and not is_link(look):
            os.utime(f"{root}/{name}", ns=_times(look))
    touched = {name for name, look in now.items() if looks.get(name) != look}
    rebuilt = {name for name in touched if is_folder(looks.get(name)) and is_folder(now[name])}
    for name in touched - rebuilt:
        remove_tree(root / name)
    for name in sorted(rebuilt, key=lambda one: one.count("/"), reverse=True):
        beside = root / f"{name}{_REBUILT}"
        _moved(root / name, beside, known=looks, prefix=f"{name}/")
        remove_tree(root / name)
        beside.rename(root / name)
    moved = {name for name in now if "/" not in name or name.rpartition("/")[0] in rebuilt}
    return now, touched | moved | (looks.keys() - now.keys())


def _times(look: Look) -> tuple[int, int]:
    """When it was read and written last, in nanoseconds."""
    return (look[-1] if not is_folder(look) else look[2]), look[2]


def _moved(folder: Path, dest: Path, *, known: Looks, prefix: str) -> None:
    """Move what is known of a folder into a new one."""
    dest.mkdir()
    for child in folder.iterdir():
        if prefix + child.name in known:
            child.rename(dest / child.name)
