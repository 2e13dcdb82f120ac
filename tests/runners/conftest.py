"""Small real projects in real git repositories, and the bench to measure them on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentforge.languages.language import RunOptions
from agentforge.suite.detection import detect
from agentforge.suite.execution import run_suite
from agentforge.suite.test_environment import Rig
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import Sandbox, choose

_GIT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@localhost", "GIT_COMMITTER_NAME": "T", "GIT_COMMITTER_EMAIL": "t@localhost",
}  # fmt: skip


@dataclass(frozen=True)
class Project:
    """A repository made of a table of files."""

    path: Path
    scratch: Path
    sandbox: Sandbox
    plan: TestPlan

    def run(self, *, protected: tuple[str, ...] = (), built: Path | None = None, **options: object) -> SuiteRun:
        """Run the suite of the working files, copied, in the sandbox."""
        copy = self.scratch / f"copy-{len(list(self.scratch.glob('copy-*')))}"
        subprocess.run(["cp", "-a", str(self.path), str(copy)], check=True)
        options = {"timeout_s": 60.0, **options}
        return run_suite(
            self.plan,
            RunOptions(**options),
            checkout=copy,
            mount_at=self.path,
            sandbox=self.sandbox,
            scratch=self.scratch / "runs",
            protected=protected,
            built=built,
        )

    def tree(self, files: Mapping[str, str | None] | None = None) -> str:
        """Write files (None removes one), and return the tree of everything."""
        write(self.path, files or {})
        _git(self.path, "add", "-A")
        return _git(self.path, "write-tree").strip()

    def rig(self, **options: object) -> Rig:
        """A bench for measurements of this project."""
        options = {"timeout_s": 60.0, **options}
        return Rig(
            plan=self.plan,
            git=Git(self.path),
            mount_at=self.path,
            sandbox=self.sandbox,
            scratch=self.scratch,
            **options,
        )


def write(folder: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _git(path: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=path, env=_GIT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return choose("auto")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Callable[..., Project]:
    """Make a project: `project({path: text}, **test_settings)`."""

    def make(files: Mapping[str, str], **settings: object) -> Project:
        tmp_path = tmp_path_factory.mktemp("project")
        repo = tmp_path / "a repo ü"
        repo.mkdir()
        _git(repo, "init", "-q")
        write(repo, files)
        _git(repo, "add", "-A")
        _git(repo, "commit", "-q", "-m", "base")
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the plugins of this environment cost a second a run
        chosen = {"python": sys.executable, "env": quick, **settings}
        return Project(path=repo, scratch=scratch, sandbox=sandbox, plan=detect(repo, settings=chosen))

    return make
