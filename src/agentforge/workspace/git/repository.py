"""A repository of the user's: read it, write objects and branches into it, and never touch the checkout unasked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from agentforge.errors import ConflictError, RepositoryError, ToolchainError
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.command import (
    AGENTFORGE,
    Checkout,
    GitCommand,
    Identity,
    call_as_user,
    identity_environment,
)
from agentforge.workspace.git.diff import Change, changed_paths, diff_trees
from agentforge.workspace.git.tree_files import TreeFiles
from agentforge.workspace.git.tree_snapshot import unlock, write_combined, write_snapshot

__all__ = ["AGENTFORGE", "Git", "Identity", "Read"]

Read = Callable[[str], bytes | None]
"""The content of a path in one version of the repository, None where it is not there."""

_BY_TIME_OF_WRITING = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.trustctime", "GIT_CONFIG_VALUE_0": "false"}
_ANSWERS = 7
"""Lines that git answers to `_find`, where no path holds a line break."""


class Git:
    """One repository, seen from one checkout of it.

    Attributes:
        top: the checkout's top folder, resolved.
        found_at: the commit that HEAD stood on when the repository was found.
        found_on: the full name of the branch that was checked out then; None when detached.
    """

    def __init__(self, path: Path) -> None:
        """Find the repository that `path` lies in.

        Raises:
            RepositoryError: there is none, it is bare, it has no commit, or `path` lies inside `.git`.
            ToolchainError: git is not installed.
        """
        self._command, self.found_at, self.found_on = _find(path)
        self.top = self._command.top

    @classmethod
    def open(cls, path: Path) -> Git:
        """Find the repository that `path` lies in; the same as `Git(path)`."""
        return cls(path)

    @cached_property
    def _tree_files(self) -> TreeFiles:
        return TreeFiles(self._command)

    @property
    def identity(self) -> Identity:
        """The user's name and address, else AgentForge's."""
        return self._command.identity

    @property
    def command(self) -> GitCommand:
        """git on this repository, for what needs more than one call of this class."""
        return self._command

    @property
    def common_dir(self) -> Path:
        """Where the objects and branches of all checkouts are."""
        return self._command.common_dir

    def head(self) -> str:
        """Return the commit that the checkout stands on."""
        return self.resolve("HEAD")

    def head_ref(self) -> str | None:
        """Return the full name of the branch that is checked out, such as `refs/heads/main`; None when detached."""
        done = self._command.run("symbolic-ref", "--quiet", "HEAD")
        return os.fsdecode(done.output).strip() if done.exit_code == 0 else None

    def resolve(self, rev: str) -> str:
        """Turn a revision into the id of its commit.

        Raises:
            RepositoryError: nothing is called so; the nearest names are in the hint.
        """
        done = self._command.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
        if done.exit_code == 0:
            return os.fsdecode(done.output).strip()

        near = get_close_matches(rev, self._ref_names(), n=3) if rev else []
        hint = f"did you mean {', '.join(near)}?" if near else "`git branch -a` lists the branches"
        raise RepositoryError(f"{self.top} has no commit called {rev!r}", hint=hint)

    def is_dirty(self) -> list[str]:
        """List changed and untracked paths of the checkout, sorted; `.agentforge` does not count."""
        arguments = ("status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=dirty")
        entries = os.fsdecode(self._command.output(*arguments)).split("\0")
        paths = {entry[3:] for entry in entries if entry}
        return sorted(path for path in paths if path.split("/")[0] != ".agentforge")

    def list_files(self, rev: str) -> list[str]:
        """List the files of a commit or tree, sorted; submodules are not files."""
        return self._tree_files.of(rev)

    def show(self, rev: str, path: str) -> bytes | None:
        """Return a file's content at a commit or tree; None when it has no such file.

        Raises:
            RepositoryError: there is no such revision.
        """
        listing = ("ls-tree", "-z", "--full-tree", rev, "--", path)
        done = self._command.recall("cat-file", "blob", f"{rev}:{path}", of=(rev,), unless=listing)
        if done.exit_code == 0:
            return done.output
        self.tree_of(rev)
        return None

    def tree_of(self, rev: str) -> str:
        """Return the tree of a commit (or the tree itself).

        Raises:
            RepositoryError: there is no such revision.
        """
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{tree}}")
        done = self._command.recall(*asked, of=(rev,))
        if done.exit_code != 0:
            raise RepositoryError(f"{self.top} has no commit or tree called {rev!r}")
        return os.fsdecode(done.output).strip()

    def branch_exists(self, name: str) -> bool:
        """Tell whether there is a local branch `name`."""
        return self._ref(f"refs/heads/{name}") is not None

    def diff(self, before: str, after: str, *, paths: Sequence[str] = (), context: int = 3) -> str:
        """Write the patch between two commits or trees, renames as deletion and addition, binary files included.

        Args:
            paths: literal files or folders; () is everything.
            context: lines around a change.
        Returns:
            Text that `encode("utf-8", "surrogateescape")` turns into the exact patch.
        """
        return diff_trees(self._command, before, after, paths=paths, context=context)

    def changed(self, before: str, after: str) -> list[Change]:
        """List the paths that differ between two commits or trees, sorted."""
        return changed_paths(self._command, before, after)

    def snapshot(self, worktree: Path, *, index: Path) -> str:
        """Write the files of a worktree as a tree and return its id; HEAD, branches and other indexes stay as they are.

        Args:
            worktree: the user's checkout or one that `add_worktree` made.
            index: a private index file, kept between calls so that only changed files are read.
        """
        checkout = Checkout(git_dir=self.git_dir_of(worktree), work_tree=worktree)
        return write_snapshot(self._command, checkout, index=index)

    def tree_with(self, tree: str, other: str, paths: Sequence[str], *, index: Path) -> str:
        """Write `tree` with some paths as they are in `other` as a tree; what the private index holds does not matter."""
        return write_combined(self._command, self.common_dir, (tree, other), paths=paths, index=index)

    def dirty_snapshot(self, index: Path) -> str:
        """Write the user's checkout with all uncommitted and untracked files as a tree."""
        return self.snapshot(self.top, index=index)

    def commit_tree(
        self,
        tree: str,
        *,
        parents: Sequence[str],
        message: str,
        author: Identity | None = None,
        when: str | None = None,
    ) -> str:
        """Write a commit and return its id; no branch moves.

        Args:
            author: None is the user as git knows them, else AgentForge.
            when: ISO 8601, or "<seconds> +0000"; None is now.
        """
        arguments = ["commit-tree", tree, "-F", "-"]
        for parent in parents:
            arguments += ["-p", parent]
        who = identity_environment(author=author or self.identity, when=when)
        return os.fsdecode(self._command.output(*arguments, stdin=message.encode(), extra=who)).strip()

    def add_note(self, commit: str, text: str, ref: str) -> None:
        """Attach a note to a commit under `ref` (such as `refs/notes/agentforge`), replacing an older one."""
        self._command.output("notes", f"--ref={ref}", "add", "-f", "-F", "-", commit, stdin=text.encode())

    def materialise(self, tree: str, dest: Path, *, index: Path | None = None) -> None:
        """Write the files of a tree or commit into a new folder, from git objects alone.

        Line ends follow the tree's own `.gitattributes`; filters (git-lfs and the like) do not run, so their files hold
        what git stores. A submodule is an empty folder.

        Args:
            index: is kept. Where it exists, `dest` holds files that were written by it, as the caller made sure: only what
                is missing or differs in size or time of writing is written.
        Raises:
            ConflictError: `dest` exists and is not empty, and there is no index of it.
        """
        known = index is not None and index.exists()
        if not known and dest.exists() and any(dest.iterdir()):
            raise ConflictError(f"cannot check out into {dest}: it is not empty", hint="choose a new folder")
        dest.mkdir(parents=True, exist_ok=True)
        private = index or dest.with_name(f".{dest.name}.index")
        try:
            at = Checkout(git_dir=self._command.git_dir, work_tree=dest, index=private)
            touched = (
                ("-c", "core.trustctime=false") if known else ()
            )  # whoever kept the files knows that they are as written
            self._command.output(*touched, "read-tree", "--reset", "-u", tree, at=at)
        finally:
            if index is None:
                private.unlink(missing_ok=True)

    # Branches and refs

    def create_branch(self, name: str, commit: str, *, force: bool = False) -> None:
        """Let a branch point at a commit.

        Raises:
            ConflictError: it exists and points elsewhere, or it is checked out, or the name is taken by a folder.
            RepositoryError: git does not allow the name.
        """
        ref = f"refs/heads/{name}"
        if self._command.run("check-ref-format", "--branch", name).exit_code != 0:
            raise RepositoryError(f"{name!r} is not a name for a branch", hint="see `git help check-ref-format`")
        standing = self._ref(ref)
        if standing == commit:
            return
        if standing is not None and (not force or self.head_ref() == ref):
            raise ConflictError(f"branch {name} exists at {standing[:12]}", hint=f"delete it: git branch -D {name}")
        done = self._command.run("update-ref", ref, commit, standing or "")
        if done.exit_code != 0:
            raise ConflictError(f"branch {name} cannot be made: {_words(done.stderr)}", hint="choose another name")

    def update_ref(self, ref: str, oid: str) -> None:
        """Let any ref point at an object, whatever it pointed at before."""
        self._command.output("update-ref", ref, oid)

    # Worktrees

    def git_dir_of(self, worktree: Path) -> Path:
        """Find the git directory of a checkout by the repository's own records, never by the `.git` file in it.

        Raises:
            RepositoryError: the repository does not know the folder.
        """
        if worktree.resolve() == self.top:
            return self._command.git_dir
        marker = worktree.resolve() / ".git"
        for record in self._worktree_records(worktree.name):
            if Path(os.fsdecode(record.read_bytes()).rstrip("\n")) == marker:
                return record.parent
        raise RepositoryError(f"{worktree} is not a worktree of {self.top}", hint="resume the task to rebuild it")

    def _worktree_records(self, name: str) -> Iterator[Path]:
        """The records of all worktrees; first the one that git most likely gave to a folder of that name."""
        likely = self.common_dir / "worktrees" / name / "gitdir"
        if likely.is_file():
            yield likely
        yield from sorted(self.common_dir.glob("worktrees/*/gitdir"))

    def add_worktree(self, path: Path, commit: str, *, empty: bool = False) -> None:
        """Make a worktree with the files of a commit, on no branch; no hook runs.

        Args:
            empty: write no file yet.
        Raises:
            RepositoryError: git refused, for one because the folder exists.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        place = path.parent.resolve() / path.name
        self._command.output("worktree", "add", "--quiet", "--detach", "--no-checkout", "--force", str(place), commit)
        if not empty:
            at = Checkout(git_dir=self.git_dir_of(place), work_tree=place)
            self._command.output("read-tree", "--reset", "-u", "HEAD", at=at)

    def remove_worktree(self, path: Path) -> None:
        """Remove a worktree with all that is in it; it is no error when parts are already gone."""
        try:
            git_dir = self.git_dir_of(path)
        except RepositoryError:
            return remove_tree(path)
        remove_tree(path)
        return remove_tree(git_dir)

    def point_at(self, worktree: Path, commit: str) -> None:
        """Put a worktree on a commit without touching its files; on no branch, so that the user can check the branch out."""
        at = Checkout(git_dir=self.git_dir_of(worktree), work_tree=worktree)
        self._command.output("update-ref", "--no-deref", "HEAD", commit, at=at)

    def reset_files(self, worktree: Path, tree: str, *, index: Path) -> None:
        """Make the files of a worktree equal a tree exactly: ignored and untracked ones go too."""
        at = Checkout(git_dir=self.git_dir_of(worktree), work_tree=worktree, index=index)
        unlock(index)
        arguments = ("read-tree", "--reset", "-u", tree)
        if self._command.run(*arguments, at=at).exit_code != 0:  # perhaps a power cut left the index damaged
            index.unlink(missing_ok=True)
            self._command.output(*arguments, at=at)
        self._command.output("clean", "-ffdxq", at=at)

    def merge_commit_into_checkout(self, branch: str) -> None:
        """Fast-forward the user's current branch and checkout to `branch`. Only ever for `--apply`; hooks stay off.

        Raises:
            ConflictError: HEAD is detached, there are uncommitted changes, or the branches have parted.
        """
        by_hand = f"do it by hand: git -C {self.top} merge {branch}"
        if self.head_ref() is None:
            raise ConflictError(f"{self.top} is on no branch", hint=f"switch to one, then {by_hand}")
        if dirty := self.is_dirty():
            raise ConflictError(f"{self.top} has uncommitted changes: {', '.join(dirty[:5])}", hint=by_hand)
        done = call_as_user(("merge", "--ff-only", "--quiet", f"refs/heads/{branch}"), cwd=self.top)
        if done.exit_code != 0:
            raise ConflictError(f"{branch} cannot be fast-forwarded into: {_words(done.stderr)}", hint=by_hand)

    def _ref(self, ref: str) -> str | None:
        done = self._command.run("rev-parse", "--verify", "--quiet", ref)
        return os.fsdecode(done.output).strip() if done.exit_code == 0 else None

    def _ref_names(self) -> list[str]:
        return os.fsdecode(self._command.output("for-each-ref", "--format=%(refname:short)")).split("\n")


def _find(path: Path) -> tuple[GitCommand, str, str | None]:
    """All that a start wants to know, in one call: the repository, the commit and the branch that it stands on."""
    shown = ("--is-bare-repository", "--is-inside-git-dir", "--path-format=absolute", "--git-dir", "--git-common-dir")
    head = ("--show-toplevel", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
    if not path.is_dir():
        raise RepositoryError(f"{path} is not a folder", hint="name the folder of a git repository")
    try:
        done = call_as_user(("rev-parse", *shown, *head), cwd=path)
    except ToolchainError as exc:
        raise RepositoryError(f"{exc.message}: AgentForge needs git", hint="install git 2.31 or newer") from exc
    lines = os.fsdecode(done.output).split("\n")
    if len(lines) < 4:
        raise _no_repository(path, _words(done.stderr))
    if lines[0] == "true":
        raise RepositoryError(f"{path} is a bare repository", hint="clone it and run in the clone")
    if lines[1] == "true":
        raise RepositoryError(f"{path} lies inside a git directory", hint="run in the checkout itself")
    top, git_dir, common_dir = Path(lines[4]).resolve(), Path(lines[2]), Path(lines[3])
    if done.exit_code != 0:
        raise RepositoryError(f"{top} has no commits yet", hint="commit something first: git commit --allow-empty")
    if len(lines) != _ANSWERS + 1:  # a path holds a line break
        top, git_dir, common_dir = (_one_path(path, name) for name in ("--show-toplevel", *shown[-2:]))
    branch = lines[-2] if lines[-2].startswith("refs/") else None
    return GitCommand(top=top, git_dir=git_dir, common_dir=common_dir), lines[-3], branch


def _one_path(path: Path, name: str) -> Path:
    """What git says of one place, whatever its name holds."""
    done = call_as_user(("rev-parse", "--path-format=absolute", name), cwd=path)
    return Path(os.fsdecode(done.output).removesuffix("\n"))


def _no_repository(path: Path, complaint: str) -> RepositoryError:
    if "not a git repository" in complaint:
        return RepositoryError(f"{path} is not in a git repository", hint="run `git init` and commit, or use --cwd DIR")
    if "dubious ownership" in complaint:
        hint = f"git config --global --add safe.directory {path}"
        return RepositoryError(f"git refuses {path}: it belongs to another user", hint=hint)
    return RepositoryError(f"git cannot open {path}: {complaint}")


def _words(stderr: bytes) -> str:
    return " ".join(os.fsdecode(stderr).split())
