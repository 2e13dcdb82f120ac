"""One ground for all cases of a worker, so that equal test runs are measured once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentforge.evals.ground import EvalFixture


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> EvalFixture:
    """A folder with a repository and a home that every case makes its own; all workers of a run share what was delivered."""
    run = tmp_path_factory.getbasetemp()
    shared = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    return EvalFixture(folder=Path(tmp_path_factory.mktemp("cheats")).resolve(), shared=shared)
