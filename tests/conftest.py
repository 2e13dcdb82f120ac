"""Fixtures for every test. The loopback provider can be imported as `agentforge_loopback`."""

from __future__ import annotations

import gc
import importlib.util
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agentforge_loopback import LoopbackProvider

_SPEC = importlib.util.spec_from_file_location("agentforge_loopback", Path(__file__).parent / "loopback" / "server.py")
assert _SPEC is not None and _SPEC.loader is not None
_LOOPBACK = importlib.util.module_from_spec(_SPEC)
sys.modules["agentforge_loopback"] = _LOOPBACK
_SPEC.loader.exec_module(_LOOPBACK)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts what it puts into the background so
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def loopback() -> Iterator[LoopbackProvider]:
    """A provider on 127.0.0.1 that answers as the test plans (see tests/loopback/server.py)."""
    provider = _LOOPBACK.LoopbackProvider()
    yield provider
    provider.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the thousands of collected tests out of every later garbage collection: they live to the end anyway."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Sum up the catalogue of cheats as `agentforge eval cheats` does."""
    from agentforge.evals.cheats_suite import closing_line

    reports = [one for found in terminalreporter.stats.values() for one in found if getattr(one, "when", "") == "call"]
    told = [str(value).split() for report in reports for name, value in report.user_properties if name == "cheat"]
    if told:
        terminalreporter.write_line(f"cheats: {closing_line([(side, how == 'right') for side, how in told])}")
