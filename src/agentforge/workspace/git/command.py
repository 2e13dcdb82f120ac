"""One way to call git: fixed environment, the repository's own configuration alone, no hooks, filters or network.

Keeps answers of git that can never change, because they were asked of objects by their full ids.
Waits for a lock file of a git that works at this moment, and removes one that a killed git left.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from agentforge.errors import RepositoryError, StorageError, ToolchainError
from agentforge.frozen import dataclass
from agentforge.workspace.processes import process
from agentforge.workspace.processes.process import Completed

TIMEOUT_S = 120.0
_OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024
_ROOM = "make room on the disk, then do the same again"
_FULL = re.compile(rb"No space left on device|Disk quota exceeded|unable to write new index file|couldn't write '")

_NO_FOLDER = re.compile(rb"unable to create directory for (/[^\n]+)")

_FIXED = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "core.attributesFile": "/dev/null",
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.trustctime": "true",  # size and time of a file are anybody's to set
    "core.checkStat": "default",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "advice.addEmbeddedRepo": "true",
}
STALE_S = 10.0
"""Git holds the lock of a ref for milliseconds; one that stands so long belongs to nobody any more."""
_LOOK_AGAIN_S = 0.05
_HELD = re.compile(r"Unable to create '(/.+?\.lock)': File exists")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a commit says that it is from."""

    name: str
    email: str


AGENTFORGE = Identity(name="AgentForge", email="agentforge@localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """Files on disk, and the git directory and index that they belong to.

    Attributes:
        index: a private index file; None is the git directory's own.
    """

    git_dir: Path
    work_tree: Path
    index: Path | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class GitCommand:
    """git on one repository.

    The git directory is always named: a `.git` that a command of the model left in a worktree is never followed.

    Attributes:
        top: the user's checkout; the folder that git runs in.
        git_dir: the checkout's own git directory (HEAD, index).
        common_dir: where objects and branches are; differs from `git_dir` in a linked worktree.
    """

    top: Path
    git_dir: Path
    common_dir: Path

    def run(
        self,
        *arguments: str,
        at: Checkout | None = None,
        stdin: bytes | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run git and return how it ended, whatever the exit code.

        Args:
            at: another checkout of the same repository; None is the user's.
            extra: more environment, such as author and committer.
        Raises:
            ToolchainError: git is missing, timed out, or wrote more than can be held.
            StorageError: there is no room on the disk.
        """
        environment = {**fixed_environment(), **(extra or {})}
        at = at or Checkout(git_dir=self.git_dir, work_tree=self.top)
        if at.index is not None:
            environment["GIT_INDEX_FILE"] = str(at.index)
        argv = ["git", *self._options, f"--git-dir={at.git_dir}", f"--work-tree={at.work_tree}", *arguments]
        done = _finished(argv, cwd=at.work_tree, env=environment, stdin=stdin)
        places = (self.common_dir / "refs", self.common_dir / "worktrees", *([at.index.parent] if at.index else ()))
        lock = lock_in_the_way(done.stderr, places=places) if done.exit_code else None
        if lock is not None and gave_way(lock):
            done = _finished(argv, cwd=at.work_tree, env=environment, stdin=stdin)
        if done.exit_code and (words := _FULL.search(done.stderr)):
            raise StorageError(f"git {arguments[0]} cannot write in {at.git_dir}: {os.fsdecode(words[0])}", hint=_ROOM)
        return done

    def recall(self, *arguments: str, of: tuple[str, ...], unless: tuple[str, ...] = ()) -> Completed:
        """Run git like `run`, but once only where all that is asked about is named by the full id of an object.

        Args:
            of: the revisions in the arguments.
            unless: a question that git answers with nothing where its refusal of the first one is for ever.
        """
        answer = self._memo.held(arguments)
        if answer is None:
            answer = self.run(*arguments)
            if all(is_object_id(rev) for rev in of):
                self._memo.hold(arguments, answer, for_ever=answer.exit_code == 0 or self._is_empty(unless))
        return answer

    def _is_empty(self, question: tuple[str, ...]) -> bool:
        """Whether git has an answer, and nothing is in it."""
        if not question:
            return False
        done = self.run(*question)
        return done.exit_code == 0 and not done.output

    def output(
        self,
        *arguments: str,
        at: Checkout | None = None,
        stdin: bytes | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git and return its standard output.

        Raises:
            RepositoryError: git refused.
            StorageError: there is no room on the disk.
        """
        done = self.run(*arguments, at=at, stdin=stdin, extra=extra)
        if done.exit_code != 0:
            error = refused(arguments, done)
            full = _is_full(self.common_dir) or _is_no_room_for_folder(done.stderr)
            raise StorageError(error.message, hint=_ROOM) if full else error
        return done.output

    def line(self, *arguments: str, at: Checkout | None = None) -> str:
        """Run git and return its one line of output.

        Raises:
            RepositoryError: git refused.
        """
        return os.fsdecode(self.output(*arguments, at=at)).strip("\n")

    @cached_property
    def identity(self) -> Identity:
        """The user's own name and address as git knows them, else AgentForge's."""
        name = os.environ.get("GIT_AUTHOR_NAME") or self._settings.get("user.name", "")
        email = os.environ.get("GIT_AUTHOR_EMAIL") or self._settings.get("user.email", "")
        return Identity(name=name, email=email) if name and email else AGENTFORGE

    @cached_property
    def _memo(self) -> GitMemo:
        return GitMemo()

    @cached_property
    def _options(self) -> tuple[str, ...]:
        values = dict(_FIXED)
        if "core.excludesfile" in self._settings:
            values["core.excludesFile"] = self._settings["core.excludesfile"]
        for name in self._settings:
            if name.startswith("filter."):
                values |= _switched_off(name.rpartition(".")[0])
        return tuple(part for key, value in values.items() for part in ("-c", f"{key}={value}"))

    @cached_property
    def _settings(self) -> dict[str, str]:
        """The user's settings that matter, read once with nothing masked."""
        wanted = r"^(user\.name|user\.email|core\.excludesfile|filter\..*)$"
        argv = ["git", f"--git-dir={self.git_dir}", "config", "--null", "--get-regexp", wanted]
        listed = _finished(argv, cwd=self.top, env=user_environment(), stdin=None)
        pairs = (entry.partition("\n") for entry in os.fsdecode(listed.output).split("\0") if entry)
        return {key: value for key, _, value in pairs}


def user_environment() -> dict[str, str]:
    """What git needs to see the user's own configuration: nothing that steers it to another repository."""
    names = ("PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def fixed_environment() -> dict[str, str]:
    """The environment of every other call: no configuration of the user's, no prompt, no translation."""
    names = ("PATH", "HOME", "XDG_CONFIG_HOME")  # the last two for the user's own ignore file
    return {
        **{name: os.environ[name] for name in names if name in os.environ},
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",  # an object is what its id says, whatever a ref in refs/replace says
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        **identity_environment(author=AGENTFORGE, when=None),
    }


def identity_environment(*, author: Identity, when: str | None) -> dict[str, str]:
    """Author and committer of what a call writes.

    Args:
        when: a date that git understands (ISO 8601, or "<seconds> +0000"); None is now.
    """
    values = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_COMMITTER_NAME": author.name,
        "GIT_COMMITTER_EMAIL": author.email,
    }
    date = _in_seconds(when) if when else ""
    return values | ({"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if when else {})


def _in_seconds(when: str) -> str:
    """A date in the form that git reads in every year: it refuses words like 2100-01-01."""
    return f"@{int(datetime.fromisoformat(when).timestamp())} +0000" if when.endswith("Z") else when


def call_as_user(arguments: tuple[str, ...], *, cwd: Path) -> Completed:
    """Run git with the user's own configuration, hooks off: to look around, and for `--apply`.

    Raises:
        ToolchainError: git is missing or timed out.
    """
    argv = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", *arguments]
    return _finished(argv, cwd=cwd, env=user_environment(), stdin=None)


def refused(arguments: tuple[str, ...], done: Completed) -> RepositoryError:
    """Describe a call that git refused."""
    words = os.fsdecode(done.stderr or done.output).strip().splitlines()
    fatal = next((at for at, line in enumerate(words) if line.startswith("fatal:")), -3)  # what follows it is advice
    told = " | ".join(words[fatal:][:3])
    return RepositoryError(f"git {arguments[0]} failed ({done.exit_code}): {told or 'no message'}")


def _is_no_room_for_folder(stderr: bytes) -> bool:
    """Whether git could make no folder for a ref because there is no room: it does not say why, so it is tried again."""
    named = _NO_FOLDER.search(stderr)
    try:
        if named is not None:
            Path(os.fsdecode(named[1])).parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        return exc.errno in (errno.ENOSPC, errno.EDQUOT)
    return False


def _is_full(folder: Path) -> bool:
    """Whether the disk takes nothing more; git does not always say why it could not write."""
    found = os.statvfs(folder)
    return not found.f_bavail or bool(found.f_files and not found.f_favail)


def _switched_off(driver: str) -> dict[str, str]:
    # Filters run programs on content that the model wrote.
    return {f"{driver}.clean": "", f"{driver}.smudge": "", f"{driver}.process": "", f"{driver}.required": "false"}


def _finished(argv: list[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes | None) -> Completed:
    done = process.run(
        argv, cwd=cwd, env=env, timeout_s=TIMEOUT_S, output_limit_bytes=_OUTPUT_LIMIT_BYTES, stdin=stdin,
        merge_stderr=False,
    )  # fmt: skip
    if done.timed_out:
        raise ToolchainError(f"git did not answer within {TIMEOUT_S:.0f} s in {cwd}", hint="check the file system")
    if done.omitted_bytes:
        raise ToolchainError(
            f"git wrote more than {_OUTPUT_LIMIT_BYTES} bytes in {cwd}", hint="files of this size cannot be handled"
        )
    return done


_ENTRY_BYTES = 256 * 1024
_COST_BYTES = 500  # of the objects around an answer
_LENGTHS = (40, 64)


def is_object_id(rev: str) -> bool:
    """Whether a revision is the full id of an object, and no name that can move."""
    return len(rev) in _LENGTHS and all(letter in "0123456789abcdef" for letter in rev)


class GitMemo:
    """Small answers by the arguments of the call, up to a limit in bytes; the oldest go first."""

    def __init__(self, *, limit_bytes: int = 4 * 1024 * 1024) -> None:
        """Start with nothing."""
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._answers: dict[tuple[str, ...], Completed] = {}

    def held(self, arguments: tuple[str, ...]) -> Completed | None:
        """The answer to this call, when it is known."""
        return self._answers.get(arguments)

    def hold(self, arguments: tuple[str, ...], answer: Completed, *, for_ever: bool) -> None:
        """Keep an answer, unless it is large, or a refusal that is not for ever: what git does not have it may get."""
        if not for_ever or _cost(answer) > _ENTRY_BYTES or arguments in self._answers:
            return
        self._answers[arguments] = answer
        self._held_bytes += _cost(answer)
        while self._held_bytes > self._limit_bytes:
            self._held_bytes -= _cost(self._answers.pop(next(iter(self._answers))))


def _cost(answer: Completed) -> int:
    return len(answer.output) + _COST_BYTES


def lock_in_the_way(stderr: bytes, *, places: Sequence[Path]) -> Path | None:
    """The lock file that git names as the reason why it refused; None for every other reason, and for locks elsewhere.

    Args:
        places: folders whose locks are ours to wait for. Those of a person's index, and of the packed refs, may be held for long.
    """
    found = _HELD.findall(os.fsdecode(stderr))
    lock = Path(found[-1]) if found else None
    ours = lock is not None and ".." not in lock.parts and any(lock.is_relative_to(place) for place in places)
    return lock if ours else None


def gave_way(lock: Path) -> bool:
    """Wait until a lock is gone, and remove it when it is so old that its holder must have been killed.

    Returns:
        Whether the call may be tried again.
    """
    while True:
        try:
            found = lock.stat()
            if abs(time.time() - found.st_mtime) >= STALE_S:
                lock.unlink()
                return True
        except FileNotFoundError:
            return True
        except OSError:
            return False
        time.sleep(_LOOK_AGAIN_S)
