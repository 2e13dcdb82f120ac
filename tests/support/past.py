"""A repository whose history a test writes, commit by commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Past:
    """A repository whose history a test writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        }  # fmt: skip
        folder.mkdir()
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=self.environ, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def commit(self, message: str, files: dict[str, str | bytes]) -> str:
        for name, data in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def branch(self, name: str) -> None:
        self.git("checkout", "-q", "-b", name)

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")
