"""Objects of a repository as bytes: a raw commit, a note, a blob in a ref of our own, a pack for another machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.errors import ConflictError, RepositoryError
from agentforge.workspace.git.command import fixed_environment
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes import process

_TIMEOUT_S = 300.0
_OUTPUT_LIMIT_BYTES = 1 << 30


def commit_object(git: Git, commit: str) -> bytes | None:
    """The raw object of a commit; None when the repository does not have it."""
    done = git.command.run("cat-file", "commit", commit)
    return done.output if done.exit_code == 0 else None


def note_of(git: Git, commit: str, ref: str) -> str | None:
    """The note that `ref` has for a commit; None when there is none."""
    done = git.command.run("notes", f"--ref={ref}", "show", commit)
    return done.output.decode("utf-8", "replace") if done.exit_code == 0 else None


def blob_of_ref(git: Git, ref: str) -> bytes | None:
    """The content of the blob that a ref points at; None when there is no such ref."""
    done = git.command.run("cat-file", "blob", ref)
    return done.output if done.exit_code == 0 else None


def keep_blob(git: Git, ref: str, content: bytes) -> None:
    """Let a ref of our own point at a blob with this content, so that it can be pushed and fetched."""
    oid = git.command.output("hash-object", "-w", "--stdin", stdin=content).decode("ascii").strip()
    git.update_ref(ref, oid)


def keep_trees(git: Git, ref: str, trees: Mapping[str, str]) -> None:
    """Let a ref of our own hold trees by name, so that `git gc` never takes them away."""
    rows = "".join(f"040000 tree {oid}\t{name}\n" for name, oid in sorted(trees.items()))
    git.update_ref(ref, git.command.output("mktree", stdin=rows.encode()).decode("ascii").strip())


def advance_branch(git: Git, name: str, commit: str, *, was: str) -> None:
    """Let a branch point at a commit that goes on from where it stands; done twice it is the same.

    Raises:
        ConflictError: it stands elsewhere, or is checked out.
    """
    ref = f"refs/heads/{name}"
    standing = git.resolve(ref) if git.branch_exists(name) else ""
    if standing == commit:
        return
    if standing not in (was, ""):
        raise ConflictError(
            f"branch {name} stands at {standing[:12]} and not at {was[:12]} any more",
            hint="somebody has committed to it; start a new task from there",
        )
    if git.head_ref() == ref:
        raise ConflictError(f"branch {name} is checked out in {git.top}", hint="switch to another branch first")
    if git.command.run("update-ref", ref, commit, standing).exit_code != 0:
        raise ConflictError(f"branch {name} was moved by somebody else at this moment", hint="look where it stands")


def drop_ref(git: Git, ref: str) -> None:
    """Remove a ref of our own; it is no error when there is none."""
    git.command.run("update-ref", "-d", ref)


def waiting_ref(run_id: str) -> str:
    """The ref that keeps the commit of a delivery until its branch does."""
    return f"refs/agentforge/waiting/{run_id}"


def has_object(git: Git, oid: str) -> bool:
    """Whether the repository still has an object."""
    return git.command.run("cat-file", "-e", oid).exit_code == 0


def pack_objects(git: Git, *, commits: Sequence[str], trees: Sequence[str]) -> bytes:
    """Pack commits, without their history, and all that lies in them and in trees; equal objects give equal bytes.

    Raises:
        RepositoryError: one of them is not there.
    """
    roots = [*trees, *(git.tree_of(commit) for commit in commits)]
    listed = git.command.output("rev-list", "--objects", "--no-object-names", *roots).decode("ascii").split()
    wanted = "\n".join(sorted({*listed, *commits})) + "\n"
    fixed = ("-c", "pack.threads=1", "-c", "pack.compression=6", "-c", "core.compression=6")
    made = ("--no-reuse-delta", "--no-reuse-object", "--window=0", "--stdout", "--quiet")
    return git.command.output(*fixed, "pack-objects", *made, stdin=wanted.encode())


def repository_of_pack(folder: Path, pack: bytes, *, commit: str) -> Git:
    """Make a repository of the objects of a pack, with the files of one of its commits checked out.

    Raises:
        RepositoryError: the pack is damaged or does not hold the commit.
    """
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--template=", "--initial-branch=main", ".")
    _git(folder, "unpack-objects", "-q", stdin=pack)
    (folder / ".git" / "shallow").write_text(f"{commit}\n", "ascii")
    _git(folder, "update-ref", "refs/heads/main", commit)
    _git(folder, "reset", "--hard", "--quiet")
    return Git(folder)


def strangers_in_pack(folder: Path, pack: bytes, *, commits: Sequence[str], trees: Sequence[str]) -> list[str]:
    """Objects of a pack that neither stand in trees nor are commits or in their trees; nothing large is held or unpacked.

    Args:
        folder: does not exist yet; a repository is made there.
        trees: those that the pack may lack are left out.
    Raises:
        RepositoryError: the pack is damaged, or lacks a commit or something in one of the trees.
    """
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--template=", "--initial-branch=main", ".")
    _git(folder, "-c", "core.bigFileThreshold=1m", "-c", "pack.threads=1", "index-pack", "--stdin", stdin=pack)
    rows = _git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").decode("ascii").split()
    (folder / ".git" / "shallow").write_text("".join(f"{commit}\n" for commit in commits), "ascii")
    roots = [*commits, *(tree for tree in trees if tree in set(rows))]
    listed = _git(folder, "rev-list", "--objects", "--no-object-names", *roots).decode("ascii").split()
    return sorted({*rows} - {*listed})


def _git(folder: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    env = fixed_environment()
    argv = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    done = process.run(
        argv, cwd=folder, env=env, timeout_s=_TIMEOUT_S, stdin=stdin, output_limit_bytes=_OUTPUT_LIMIT_BYTES
    )
    if done.exit_code != 0:
        raise RepositoryError(f"git {arguments[0]} failed ({done.exit_code}): {' '.join(done.text.split())[:300]}")
    return done.output
