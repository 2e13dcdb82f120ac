"""A queue in a file of its own, and the script that puts real workers over one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import bench.fleet
from agentforge.fleet.database import Database, open_database
from agentforge.fleet.ledger import Ledger


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = open_database(f"sqlite:///{tmp_path / 'queue.sqlite'}")
    yield found
    found.close()


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)


@pytest.fixture(scope="session")
def fleet() -> ModuleType:
    """The measurement script."""
    return bench.fleet
