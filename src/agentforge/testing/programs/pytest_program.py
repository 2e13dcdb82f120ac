"""Runs pytest with the evidence plugin and the canaries."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def prepare() -> None:
    """Import what of pytest is watched from the start, before the checkout is on `sys.path`."""
    import unittest  # noqa: F401

    import _pytest.junitxml
    import _pytest.python
    import _pytest.skipping
    import _pytest.unittest  # noqa: F401
    import pytest  # noqa: F401

    sys.modules["__main__"].load("planted")
    sys.modules["__main__"].load("time_limit")
    sys.modules["__main__"].load("pytest_plugin")


def run(
    setup: dict[str, Any], *, send: Callable[[dict[str, Any]], None], describe: Callable[..., dict[str, Any]]
) -> int:
    """Run the suite in this process.

    Returns:
        pytest's exit status; it says how the session ended and is no verdict on tests.
    """
    import pytest

    plugin = sys.modules["_agentforge_pytest_plugin"].Evidence(setup, send=send, describe=describe)
    send({"kind": "hello", "python": sys.version.split()[0], "runner": f"pytest {pytest.__version__}"})
    sys.argv = ["pytest"]
    os.chdir(setup["root"])
    return int(pytest.main(_arguments(setup), plugins=[plugin]))


def _arguments(setup: dict[str, Any]) -> list[str]:
    """The command line: ours overrides the project's `addopts` where they would hide or stop tests."""
    arguments = ["--rootdir", setup["root"], "--continue-on-collection-errors", "--maxfail=0"]
    arguments += ["-o", f"cache_dir={setup['scratch']}/cache", "-o", "junit_family=xunit2", "-o", "junit_logging=no"]
    arguments += ["--junitxml", setup["junit"], "--color=no"]
    arguments.append("--tb=line")  # failures are described by us: nobody reads more
    loaded = not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    if loaded and importlib.util.find_spec("xdist"):
        arguments.append("-n0")
    if loaded and importlib.util.find_spec("pytest_cov") and not setup.get("coverage"):
        arguments.append("--no-cov")
    return arguments + list(setup["arguments"]) + list(setup["paths"])
