"""Fixtures and rules for every test.

What several folders share is in the package `tests.support`.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import tiers, toolchains
from tests.support.loopback.inbox import Inbox, serving
from tests.support.loopback.provider import LoopbackProvider

_TESTS = Path(__file__).parent

settings.register_profile("house", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile(
    "house"
)  # the first example of a fresh checkout builds tables of characters, whatever runs beside it

_TABLE = tiers.read_tiers()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts what it puts into the background so
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def loopback() -> Iterator[LoopbackProvider]:
    """A provider on 127.0.0.1 that answers as the test plans (see tests/support/loopback/provider.py)."""
    provider = LoopbackProvider()
    yield provider
    provider.close()


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """A server on 127.0.0.1 that takes what is posted (see tests/support/loopback/inbox.py)."""
    with serving(Inbox()) as box:
        yield box


@pytest.fixture(scope="session")
def pycache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands keep what their python compiled: a second or two of work, once for all workers of a run."""
    run = tmp_path_factory.getbasetemp()
    return (run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "pycache"


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the thousands of collected tests out of every later garbage collection: they live to the end anyway."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not read the files of which one tier alone has no test: collecting is seconds, and each worker does it."""
    left_out = {"fast": "full", "full": "fast"}.get(config.getoption("markexpr"))
    if left_out is None or not collection_path.name.startswith("test_") or not collection_path.is_relative_to(_TESTS):
        return None
    path = collection_path.relative_to(_TESTS.parent).as_posix()
    return True if _TABLE.is_all_of(left_out, path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test with its tier; the long ones of `make chaos` are left out unless `-m` asks for them."""
    tiers.mark(items, _TABLE)
    if config.getoption("markexpr"):
        return
    left = [item for item in items if item.get_closest_marker("chaos") is None]
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("chaos") is not None])
    items[:] = left


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a program that does not work here."""
    toolchains.skip_without(item)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Sum up the catalogue of cheats as `agentforge eval cheats` does."""
    from agentforge.evals.suites import closing_line

    reports = [one for found in terminalreporter.stats.values() for one in found if getattr(one, "when", "") == "call"]
    told = [str(value).split() for report in reports for name, value in report.user_properties if name == "cheat"]
    if told:
        terminalreporter.write_line(f"cheats: {closing_line([(side, how == 'right') for side, how in told])}")
