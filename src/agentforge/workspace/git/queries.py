"""Looking without a checkout of ours: the top of a commit in one call of git, and the files of the user's checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from agentforge.errors import RepositoryError
from agentforge.workspace.git.command import refused
from agentforge.workspace.git.repository import Git

_FOLDERS = (b"40000", b"160000")


def top_level(git: Git, commit: str, *, texts: Sequence[str]) -> tuple[list[str], bytes]:
    """List the top of a commit, folders with a `/` behind, and give the first of some files that is there.

    Returns:
        The names, sorted as git does, and the content of the file; empty when there is none.
    Raises:
        RepositoryError: there is no such commit.
    """
    wanted = (f"{commit}^{{tree}}", *(f"{commit}:{name}" for name in texts))
    given = b"".join(os.fsencode(name) + b"\n" for name in wanted)
    done = git.command.run("cat-file", "--batch", stdin=given)
    if done.exit_code != 0:
        raise refused(("cat-file",), done)
    tree, *files = _objects(done.output)
    if not tree[0]:
        raise RepositoryError(f"{git.top} has no commit called {commit!r}")
    found = next((data for kind, data in files if kind == b"blob"), b"")
    return [os.fsdecode(name) for name in _names(tree[1], id_bytes=len(commit) // 2)], found


def ignored_folders(git: Git) -> frozenset[str]:
    """The folders of the checkout, none below another, in which git ignores everything."""
    asked = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    names = os.fsdecode(git.command.output(*asked)).split("\0")
    return frozenset(name[:-1] for name in names if name.endswith("/"))


def working_files(git: Git) -> list[str]:
    """List the files of the checkout that git knows or would add, sorted; deleted ones and submodules are left out."""
    listing = git.command.output("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    paths = sorted(path for path in os.fsdecode(listing).split("\0") if path)
    return [path for path in paths if (git.top / path).is_file()]


def _objects(output: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of every object of a batch; nothing for one that is missing."""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        *_, kind, size = output[at:end].split(b" ")
        at = end + 1
        if size == b"missing":
            yield b"", b""
            continue
        yield kind, output[at : at + int(size)]
        at += int(size) + 1


def _names(tree: bytes, *, id_bytes: int) -> Iterator[bytes]:
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, name = tree[at:end].split(b" ", 1)
        yield name + b"/" if mode in _FOLDERS else name
        at = end + 1 + id_bytes
