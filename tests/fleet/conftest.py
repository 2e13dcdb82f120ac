"""A queue in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
