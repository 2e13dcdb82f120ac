"""Where cases run: a repository made anew for each, one home for all, so that equal test runs are measured once."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentforge.canonical import digest_value
from agentforge.evals.case import Case, write_files
from agentforge.testing.launch import remove
from agentforge.workspace.git.newrepo import commit_everything, init_repository

NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # no case needs one, and loading them is half of a test run


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFixture:
    """A folder of one process. The results of test runs are kept by the path of the repository, which never changes.

    Attributes:
        shared: where all processes of a suite write down which honest sides were delivered, by everything that they consist of:
            many cases share the honest way of the base. None is a folder of this ground alone.
    """

    folder: Path
    shared: Path | None = None

    @property
    def repo(self) -> Path:
        """The user's repository of the case that runs."""
        return self.folder / "repo"

    @property
    def environ(self) -> dict[str, str]:
        """The user's environment without settings for AgentForge, with a home of our own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AGENTFORGE_")}
        return {**kept, "AGENTFORGE_HOME": str(self.folder / "home")}

    @property
    def flags(self) -> Mapping[str, object]:
        """Settings of every run: the python, found out once where our own will do, bare pytest, and nothing that asks RED again.

        Mutants refuse nothing by themselves: they make RED add tests, which a script cannot.
        """
        python = {"test.python": sys.executable} if importlib.util.find_spec("pytest") else {}
        return {**python, "test.env": NO_PLUGINS, "verification.mutants": 0, "verification.returns": 0}

    def was_delivered(self, digest: str) -> bool:
        """Tell whether an honest side that is equal in all its parts was delivered before."""
        return (self._delivered / digest).exists()

    def note_delivered(self, digest: str, name: str) -> None:
        """Write down that the honest side of a case was delivered."""
        self._delivered.mkdir(parents=True, exist_ok=True)
        (self._delivered / digest).write_text(name, "utf-8")

    @property
    def _delivered(self) -> Path:
        return (self.shared or self.folder) / "delivered"

    def lay(self, case: Case) -> None:
        """Make the repository of a case; what an earlier one left goes, its measured results stay.

        Each of its older commits is made before the repository stands as the run finds it.
        """
        self._clear()
        for number, files in enumerate(case.commits):
            _empty(self.repo)
            write_files(files, self.repo)
            if number == 0:
                init_repository(self.repo, message="base")
            else:
                commit_everything(self.repo, message=f"change {number}")

    def digest(self, case: Case, script: object) -> str:
        """Name a side by its request, its answers and every file of its repository."""
        return digest_value({"request": case.request, "script": script, "commits": case.commits})

    def _clear(self) -> None:
        remove(self.repo)
        self.repo.mkdir(parents=True)
        for task in (self.folder / "home").glob("data/worktrees/*/*"):
            if task.name != "results":
                remove(task) if task.is_dir() else task.unlink()


@contextmanager
def scratch(word: str) -> Iterator[Path]:
    """A temporary folder for a suite, removed with all that the sandbox left in it.

    Args:
        word: names the suite in the folder's name.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"agentforge-{word}-")).resolve()
    try:
        yield folder
    finally:
        remove(folder)


def _empty(repo: Path) -> None:
    """Remove every file of a working tree, git's own folder excepted."""
    for path in repo.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
