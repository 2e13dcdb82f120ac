"""The demonstration: the whole way on a small real repository. The model's replies are a recording; everything else is real."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from agentforge.app.composition.run_result import RunResult
from agentforge.app.tasks.runs import start
from agentforge.app.tasks.start_options import StartOptions, Watch
from agentforge.config.settings import load
from agentforge.workspace.git.newrepo import init_repository

_DATA = Path(__file__).parents[2] / "demo"


def run_demo(watch: Watch) -> RunResult:
    """Make the sample repository in a temporary folder and run its request there.

    Side effects: a temporary folder that stays, so that the branch can be looked at; nothing else is touched.
    """

    home = Path(tempfile.mkdtemp(prefix="agentforge-demo-")).resolve()
    repo = sample_repository(home / "shopcart")
    environ = demo_environment(os.environ, home)
    options = StartOptions(
        request=(_DATA / "request.txt").read_text("utf-8").strip(),
        cwd=repo,
        model=f"recorded/{_DATA / 'replies.jsonl'}",
    )
    return start(options, settings=load(repo, environ), environ=environ, watch=watch)


def demo_environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The user's environment with settings and data in the demonstration's own folder."""
    return {**environ, "AGENTFORGE_HOME": str(home / "agentforge")}


def sample_repository(folder: Path) -> Path:
    """Copy the sample project and commit it."""

    shutil.copytree(_DATA / "project", folder, ignore=shutil.ignore_patterns("__pycache__"))
    init_repository(folder, message="shopcart, as it is before the request")
    return folder
