"""A queue in a file of its own, and the script that puts real workers over one."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from agentforge.fleet.database import Database, open_database
from agentforge.fleet.ledger import Ledger

for _name in ("histories", "simulation"):
    _spec = importlib.util.spec_from_file_location(f"tests_fleet_{_name}", Path(__file__).with_name(f"{_name}.py"))
    assert _spec is not None and _spec.loader is not None
    sys.modules[f"tests_fleet_{_name}"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[f"tests_fleet_{_name}"])


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
    path = Path(__file__).parents[2] / "bench" / "fleet.py"
    spec = importlib.util.spec_from_file_location("agentforge_bench_fleet", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agentforge_bench_fleet"] = module
    spec.loader.exec_module(module)
    return module
