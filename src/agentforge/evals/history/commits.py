"""The commits of a repository as changes that could have been asked for. No work tree is needed; nothing is written.

`History` opens a repository or a bare git directory. `History.read` yields, newest first, a `Commit` for each change that can be
a task, and a `LeftOut` with the reason for each that cannot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

from agentforge.errors import RepositoryError, UsageError
from agentforge.evals.trials.test_files import holds_tests, is_test_file, python_patterns
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of
from agentforge.workspace.git.command import GitCommand, call_as_user

Status = Literal["added", "modified", "deleted", "renamed", "type-changed"]
Role = Literal["code", "test", "document", "configuration", "generated"]
Reason = Literal[
    "merge",
    "root",
    "shallow",
    "too-large",
    "submodule",
    "binary",
    "generated",
    "only-tests",
    "no-tests",
    "tests-inside",
    "empty",
    "partial",
]
Range = tuple[int, int]

MOST_FILES = 300

_SAYS: dict[Reason, str] = {
    "merge": "it is a merge: its changes stand in the commits that it joins",
    "root": "it is the first commit: there is no state before it",
    "shallow": "the clone is shallow and ends here: the state before it is not known",
    "too-large": f"it changes more than {MOST_FILES} files",
    "submodule": "it moves a submodule, whose files are not here",
    "binary": "it changes binary files, which no model writes",
    "generated": "it changes generated or vendored files only",
    "only-tests": "it changes tests only",
    "no-tests": "it changes no test that could judge it",
    "tests-inside": "it changes tests that stand in files of the product (`#[cfg(test)]`), which cannot be hidden apart",
    "empty": "it changes no file",
    "partial": "git cannot give all of its files: the clone is partial and lacks them, or their objects are damaged",
}
_STATUS: dict[str, Status] = {
    "A": "added", "M": "modified", "D": "deleted", "R": "renamed", "T": "type-changed", "C": "added",
}  # fmt: skip
_GENERATED_FOLDERS = frozenset({"vendor", "node_modules", "third_party", "dist", "_vendor", "vendored"})
_GENERATED_NAMES = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "Pipfile.lock",
        "Cargo.lock", "go.sum", "composer.lock", "Gemfile.lock",
    }
)  # fmt: skip
_GENERATED_ENDS = (".min.js", ".min.css", ".map", "_pb2.py", "_pb2.pyi", ".pb.go")
_OF_TESTS = frozenset({"testdata", "test_data", "test-data", "__snapshots__", "__fixtures__", "__mocks__"})
_DATA_OF_TESTS = frozenset({"fixtures", "snapshots", "cassettes"})
_DOCUMENTS = frozenset({".md", ".rst", ".txt", ".adoc", ".html", ".css"})
_DOCUMENT_NAMES = frozenset({"AUTHORS", "CHANGES", "CHANGELOG", "NEWS", "README", "HISTORY", "LICENSE", "CONTRIBUTORS"})
_SUBMODULE = "160000"
_TEST_MODULE = "#[cfg(test)]"  # tests stand at the end of a file
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_FIELDS = "%H%x00%P%x00%ct%x00%s%x00%b%x00"
_COUNT = 5  # of _FIELDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file of a commit.

    Attributes:
        path: at the commit; of a deleted file, the one that it had.
        old_path: at the parent; "" for an added file.
        old_lines: ranges of the parent's lines that were replaced or removed, both ends counted from 1; no insertions.
        new_lines: ranges of the commit's lines that replace or add something.
        insertions: the parent's lines after which something was added and nothing removed; 0 is before the first line.
    """

    path: str
    old_path: str
    status: Status
    role: Role
    binary: bool = False
    submodule: bool = False
    old_lines: tuple[Range, ...] = ()
    new_lines: tuple[Range, ...] = ()
    insertions: tuple[int, ...] = ()

    @property
    def is_test(self) -> bool:
        """Whether the file belongs to the tests, helpers and data of the tests included."""
        return self.role == "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCommit:
    """A change with exactly one parent.

    Attributes:
        at: when it was committed, in seconds since the epoch.
    """

    sha: str
    parent: str
    at: int
    subject: str
    body: str
    files: tuple[ChangedFile, ...]

    @property
    def tests(self) -> tuple[ChangedFile, ...]:
        """The files that belong to the tests."""
        return tuple(one for one in self.files if one.is_test)

    @property
    def products(self) -> tuple[ChangedFile, ...]:
        """All other files that a person writes: code, documents and configuration."""
        return tuple(one for one in self.files if one.role not in ("test", "generated"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A commit that cannot be a task, and why."""

    sha: str
    subject: str
    reason: Reason

    @property
    def message(self) -> str:
        """The reason as a sentence."""
        return _SAYS[self.reason]


class History:
    """A repository's commits; it may be bare.

    Attributes:
        has_checkout: it is not bare: files stand beside it.
    """

    def __init__(self, folder: Path) -> None:
        """Open the repository that the folder lies in, or the bare git directory that it is.

        Raises:
            RepositoryError: it is neither.
        """
        self.command = _command(folder)
        self.has_checkout = self.command.top != self.command.git_dir
        kept = self.command.common_dir / "shallow"
        self._ends = frozenset(kept.read_text("ascii").split()) if kept.is_file() else frozenset()
        self._patterns = python_patterns(partial(self.text, "HEAD"))

    def read(
        self, *, last: int | None = None, shas: Sequence[str] = (), keep: frozenset[Reason] = frozenset()
    ) -> Iterator[HistoryCommit | LeftOut]:
        """Yield the newest commits of HEAD, or the named ones.

        Args:
            last: how many of the newest are looked at; None is all.
            shas: revisions; when there are some, `last` does not count.
            keep: reasons that are none for the caller: {"no-tests"} yields commits without tests, too.
        Raises:
            RepositoryError: a name means no commit, or there is no commit at all.
        """
        which = ["--no-walk=unsorted", *map(self.resolve, shas)] if shas else ["HEAD"]
        limit = [f"--max-count={last}"] if last is not None and not shas else []
        listed = self.command.output("log", "-z", f"--format={_FIELDS}", *limit, *which, "--")
        fields = listed.decode("utf-8", "replace").split("\0")
        for at in range(0, len(fields) - _COUNT, _COUNT + 1):
            sha, parents, when, subject, body = fields[at : at + _COUNT]
            one: HistoryCommit | LeftOut = LeftOut(sha=sha.strip(), subject=subject, reason="partial")
            with suppress(RepositoryError):
                one = self._judged(sha.strip(), parents.split(), int(when), subject, body.strip(), keep)
            yield one

    def resolve(self, rev: str) -> str:
        """Turn a revision into the full id of its commit.

        Raises:
            RepositoryError: it means none.
        """
        done = self.command.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
        if done.exit_code != 0:
            raise RepositoryError(f"{self.command.top} has no commit {rev!r}", hint="`git log --oneline` lists them")
        return os.fsdecode(done.output).strip()

    def files(self, rev: str) -> list[str]:
        """List the files of a commit."""
        listed = self.command.output("ls-tree", "-r", "-z", "--full-tree", "--name-only", rev)
        return [path for path in os.fsdecode(listed).split("\0") if path]

    def text(self, rev: str, path: str) -> str | None:
        """Return a file's text at a commit; None when it has no such file, or the file is no UTF-8 text."""
        done = self.command.run("cat-file", "blob", f"{rev}:{path}")
        try:
            return done.output.decode("utf-8") if done.exit_code == 0 else None
        except UnicodeDecodeError:
            return None

    def _judged(
        self, sha: str, parents: list[str], when: int, subject: str, body: str, keep: frozenset[Reason]
    ) -> HistoryCommit | LeftOut:
        reason = self._without_parent(sha, parents)
        files: tuple[ChangedFile, ...] = ()
        if reason is None:
            listed = self._listed(parents[0], sha)
            too_large = len(listed) > MOST_FILES
            files = () if too_large else tuple(self._with_lines(parents[0], sha, listed))
            reason = "too-large" if too_large else _reason(files, keep)
            if reason == "no-tests" and any(self._tests_inside(sha, one) for one in files):
                reason = "tests-inside"
        if reason is not None:
            return LeftOut(sha=sha, subject=subject, reason=reason)
        return HistoryCommit(sha=sha, parent=parents[0], at=when, subject=subject, body=body, files=files)

    def _tests_inside(self, sha: str, file: ChangedFile) -> bool:
        """Whether a commit changes lines of the tests in a file of Rust."""
        text = self.text(sha, file.path) if file.path.endswith(".rs") and file.new_lines else None
        begins = [number for number, line in enumerate((text or "").splitlines(), 1) if line.startswith(_TEST_MODULE)]
        return bool(begins) and any(last > begins[0] for _, last in file.new_lines)

    def _without_parent(self, sha: str, parents: list[str]) -> Reason | None:
        if len(parents) > 1:
            return "merge"
        if parents:
            return None
        return "shallow" if sha in self._ends else "root"

    def _listed(self, parent: str, sha: str) -> list[ChangedFile]:
        """The files that differ, without their lines; a rename is one entry."""
        raw = os.fsdecode(self.command.output("diff-tree", "-r", "-z", "--raw", "-M", parent, sha))
        fields = raw.split("\0")
        found, at = [], 0
        while at < len(fields) and fields[at].startswith(":"):
            old_mode, new_mode, _, _, letter = fields[at].removeprefix(":").split(" ")
            moved = letter[0] in "RC"
            old, new = fields[at + 1], fields[at + 2] if moved else fields[at + 1]
            status = _STATUS[letter[0]]
            one = ChangedFile(
                path=new,
                old_path="" if status == "added" else old,
                status=status,
                role=self._role(parent if status == "deleted" else sha, new),
                submodule=_SUBMODULE in (old_mode, new_mode),
            )
            found.append(one)
            at += 3 if moved else 2
        return found

    def _role(self, rev: str, path: str) -> Role:
        """What a file is for; where only the project's own pattern takes it for a test, its text decides, too."""
        role = role_of(path)
        taken = role not in ("test", "generated") and is_test_file(path, self._patterns)
        return "test" if taken and holds_tests(path, self.text(rev, path) or "", self._patterns) else role

    def _with_lines(self, parent: str, sha: str, listed: Sequence[ChangedFile]) -> Iterator[ChangedFile]:
        patch = self.command.output("diff-tree", "-r", "-p", "-U0", "-M", "--no-color", "--no-ext-diff", parent, sha)
        parts = iter(re.split(rb"^diff --git ", patch, flags=re.MULTILINE)[1:])
        for one in listed:
            part = next(parts) + (
                next(parts) if one.status == "type-changed" else b""
            )  # told as a deletion and an addition
            hunks = [tuple(int(n) if n else 1 for n in match.groups(b"")) for match in _HUNK.finditer(part)]
            yield replace(
                one,
                binary=b"\nBinary files " in part,
                old_lines=tuple((start, start + count - 1) for start, count, _, _ in hunks if count),
                new_lines=tuple((start, start + count - 1) for _, _, start, count in hunks if count),
                insertions=tuple(start for start, count, _, _ in hunks if not count),
            )


def role_of(path: str) -> Role:
    """Tell from its path what a file is for."""
    place = PurePosixPath(path)
    if place.name in _GENERATED_NAMES or path.endswith(_GENERATED_ENDS) or _GENERATED_FOLDERS & set(place.parts[:-1]):
        return "generated"
    if is_test_path(path) or is_test_file(path) or path == "test.py" or _is_test_data(place):
        return "test"
    if place.suffix.lower() in _DOCUMENTS or place.stem.upper() in _DOCUMENT_NAMES:
        return "document"
    return "code" if language_of(path) else "configuration"


def _is_test_data(place: PurePosixPath) -> bool:
    """Whether a file that is no code lies in a folder that holds what tests read and compare with."""
    folders = {folder.lower() for folder in place.parts[:-1]}
    return bool(folders & _OF_TESTS) or (language_of(str(place)) is None and bool(folders & _DATA_OF_TESTS))


def chosen_commits(words: str) -> tuple[str, ...]:
    """The revisions of `--commits A,B`.

    Raises:
        UsageError: there is none, or a range stands among them.
    """
    found = tuple(word for word in re.split(r"[,\s]+", words) if word)
    if not found or any(".." in word for word in found):
        raise UsageError(
            f"--commits {words!r} names no commits", hint="separate them by commas: --commits 1f3a9c2,HEAD~4"
        )
    return found


def _reason(files: Sequence[ChangedFile], keep: frozenset[Reason]) -> Reason | None:
    """Why a change of these files is no task; None when it is one."""
    tests = [one for one in files if one.is_test]
    written = [one for one in files if one.role not in ("test", "generated")]
    checks: tuple[tuple[Reason, bool], ...] = (
        ("empty", not files),
        ("submodule", any(one.submodule for one in files)),
        ("binary", any(one.binary for one in files)),
        ("generated", not tests and not written),
        ("only-tests", not written),
        ("no-tests", not tests),
    )
    return next((reason for reason, holds in checks if holds and reason not in keep), None)


def _command(folder: Path) -> GitCommand:
    """git on the repository of a checkout, or on a bare git directory."""
    place = folder.expanduser().resolve()
    if not place.is_dir():
        raise RepositoryError(f"{folder} is not a folder", hint="name the folder of a git repository")
    asked = ("rev-parse", "--path-format=absolute", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir")
    bare = (place / "HEAD").is_file() and (place / "objects").is_dir()
    done = call_as_user((f"--git-dir={place}", *asked) if bare else asked, cwd=place)
    if done.exit_code != 0:
        raise RepositoryError(f"{folder} is not a git repository", hint="name the folder of a git repository")
    is_bare, git_dir, common = os.fsdecode(done.output).strip().split("\n")
    top = place
    if is_bare != "true":
        top = Path(os.fsdecode(call_as_user(("rev-parse", "--show-toplevel"), cwd=place).output).strip())
    return GitCommand(top=top, git_dir=Path(git_dir), common_dir=Path(common))
