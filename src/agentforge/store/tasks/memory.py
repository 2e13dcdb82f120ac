"""What is remembered across sessions: short texts by key, of the user and of each project, in files of the data directory.

user_memory.json            {"entries": {key: value}}
memory/<project>.json       {"project": path, "entries": {key: value}}
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentforge.canonical import digest_bytes
from agentforge.errors import StorageError, UsageError
from agentforge.store.log.files import make_folder, replace_file, storage_error

SCOPES = ("user", "project")
LONGEST_KEY = 100
LONGEST_VALUE = 4_000
MOST_ENTRIES = 500


class UserAndProjectMemory:
    """The entries of both scopes; each is read anew, because other sessions write, too."""

    def __init__(self, data: Path, *, project: Path) -> None:
        self._data = data
        self._project = _repository(project)

    def entries(self, scope: str) -> dict[str, str]:
        """All entries of a scope, the oldest first.

        Raises:
            StorageError: the file cannot be read, or is damaged.
        """
        return _read(self.file(scope))

    def put(self, key: str, value: str | None, *, scope: str) -> None:
        """Set an entry, which is the newest then, or delete it (None).

        Raises:
            UsageError: a key or a value that is empty or too long; too many entries.
            StorageError: the file cannot be read or written, or is damaged.
        """
        key = key.strip()
        _check(key, value)
        with self._locked():
            entries = self.entries(scope)
            entries.pop(key, None)
            if value is not None:
                if len(entries) >= MOST_ENTRIES:
                    raise UsageError(f"there are {MOST_ENTRIES} entries already", hint="delete some first")
                entries[key] = value
            self._write(scope, entries)

    def replace(self, entries: Mapping[str, str], *, scope: str) -> None:
        """Put other entries in the place of all.

        Raises:
            UsageError: a key or a value that is empty or too long; too many entries.
            StorageError: the file cannot be written.
        """
        if len(entries) > MOST_ENTRIES:
            raise UsageError(f"{len(entries)} entries are too many", hint=f"keep at most {MOST_ENTRIES}")
        for key, value in entries.items():
            _check(key.strip(), value)
        with self._locked():
            self._write(scope, {key.strip(): value for key, value in entries.items()})

    def draft(self, scope: str) -> Path:
        """Write the entries of a scope into a draft for a person to edit; one that was begun before is gone on with.

        Raises:
            StorageError: the file cannot be read or the draft not written.
        """
        draft = self._draft(scope)
        if not draft.exists():
            make_folder(draft.parent)
            text = json.dumps({"entries": self.entries(scope)}, ensure_ascii=False, indent=2) + "\n"
            old = os.umask(0o077)
            try:
                replace_file(draft, text.encode("utf-8", "surrogatepass"))
            finally:
                os.umask(old)
        return draft

    def take_draft(self, scope: str, *, scrub: Callable[[str], str]) -> int:
        """Put what stands in the draft in the place of all entries, and remove it.

        Args:
            scrub: takes secrets out of a value.
        Returns:
            How many entries there are now.
        Raises:
            UsageError: there is no draft, or an entry that cannot be kept.
            StorageError: it is damaged; it stays, and the entries are as before.
        """
        draft = self._draft(scope)
        if not draft.exists():
            raise UsageError("nothing was edited", hint="/memory edit")
        entries = {key: scrub(value) for key, value in _read(draft).items()}
        self.replace(entries, scope=scope)
        draft.unlink()
        return len(entries)

    def _draft(self, scope: str) -> Path:
        file = self.file(scope)
        return file.with_name(f"{file.stem}.draft.json")

    def file(self, scope: str) -> Path:
        """Where a scope is kept.

        Raises:
            UsageError: there is no such scope.
        """
        if scope not in SCOPES:
            raise UsageError(f"there is no memory of {scope!r}", hint=f"one of {', '.join(SCOPES)}")
        if scope == "user":
            return self._data / "user_memory.json"
        name = digest_bytes(str(self._project).encode("utf-8", "surrogateescape"))[:24]
        return self._data / "memory" / f"{name}.json"

    def _write(self, scope: str, entries: Mapping[str, str]) -> None:
        file = self.file(scope)
        value = {"entries": dict(entries)}
        whole = value if scope == "user" else {"project": str(self._project), **value}
        make_folder(file.parent)
        if scope == "project":
            file.parent.chmod(0o700)
        text = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
        old = os.umask(0o077)
        try:
            replace_file(file, text.encode("utf-8", "surrogatepass"), durable=True)
        finally:
            os.umask(old)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, whatever process or thread."""
        path = self._data / "memory.lock"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as exc:
            raise storage_error(exc, path) from exc
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _check(key: str, value: str | None) -> None:
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise UsageError(f"a key has 1-{LONGEST_KEY} printable characters", hint="name the fact in a word or two")
    if value is not None and (not value.strip() or len(value) > LONGEST_VALUE):
        raise UsageError(f"a value has 1-{LONGEST_VALUE} characters", hint="keep facts short; files hold the rest")


def _read(file: Path) -> dict[str, str]:
    try:
        value = json.loads(file.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise StorageError(f"{file} cannot be read: {exc.strerror}", hint="check its rights") from exc
    except ValueError as exc:
        raise StorageError(
            f"{file} is damaged: {exc}", hint="mend it or move it away; nothing is written to it"
        ) from exc
    entries = value.get("entries") if isinstance(value, dict) else None
    if not isinstance(entries, dict):
        raise StorageError(f'{file} has no table "entries"', hint="mend it or move it away; nothing is written to it")
    return {str(key): text if isinstance(text, str) else json.dumps(text) for key, text in entries.items()}


def _repository(top: Path) -> Path:
    """A linked worktree remembers what its repository remembers."""
    link = top / ".git"
    try:
        text = link.read_text("utf-8") if link.is_file() else ""
    except (OSError, UnicodeDecodeError):  # no worktree of git's
        text = ""
    folder = Path(text.removeprefix("gitdir:").strip())
    linked = text.startswith("gitdir:") and folder.parent.name == "worktrees"
    return folder.parents[2].resolve() if linked else top.resolve()
