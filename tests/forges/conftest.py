"""The forge on loopback, over a bare repository with one branch."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.loopback.forge import Forge, Serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A bare repository whose branch `topic` has one commit."""
    folder = tmp_path / "bare.git"
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")

    def git(*arguments: str) -> str:
        argv = ["git", "-C", str(folder), *who, *arguments]
        return subprocess.run(argv, check=True, capture_output=True, text=True, input="").stdout.strip()

    subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    commit = git("commit-tree", "-m", "one", git("mktree"))
    git("update-ref", "refs/heads/topic", commit)
    return folder


@pytest.fixture
def running(bare: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The forge; its Unix socket lies at `running.unix`, a short path."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="af-") as place:
        forge = Forge(bare=bare)
        unix = Path(place) / "s"
        with Serving(forge, unix=unix):
            forge.unix = unix
            yield forge
