"""Runs chosen tests with pytest until the first that does not pass: whether a mutant is noticed."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest


def judge(setup: dict[str, Any], tests: list[str]) -> dict[str, Any]:
    """Run tests in this process.

    Returns:
        {failed: the first id that did not pass or "", all: all of them, ran, seconds: id -> seconds}.
    """
    watch = _Watch(tests)
    files = list(dict.fromkeys(one.partition("::")[0] for one in tests))
    arguments = sys.modules["__main__"].load("pytest_program")._arguments(dict(setup, paths=files))
    at = arguments.index("--junitxml")
    arguments = [*arguments[:at], *arguments[at + 2 :], "-q", "--tb=no", "-p", "no:cacheprovider"]
    arguments += [] if setup["every"] else ["--maxfail=1"]
    sys.argv = ["pytest"]
    pytest.main(arguments, plugins=[watch])
    return {"failed": watch.failed, "all": watch.all, "ran": len(watch.seconds), "seconds": watch.seconds}


def ahead(names: list[str]) -> None:
    """Import installed modules before the forks do; pytest's own import hook must see the plugins, or pytest complains."""
    from importlib.metadata import distributions

    from _pytest.assertion.rewrite import AssertionRewritingHook
    from _pytest.config import _iter_rewritable_modules

    hook = AssertionRewritingHook(_NoConfig())  # type: ignore[arg-type]  # it asks for little before a session
    for one in distributions():
        if any(entry.group == "pytest11" for entry in one.entry_points):
            hook.mark_rewrite(*_iter_rewritable_modules([str(file) for file in one.files or []]))
    sys.meta_path.insert(0, hook)
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - a module that needs what comes before it: the forks import it
            continue
    sys.meta_path.remove(hook)


class _NoConfig:
    """What pytest's import hook asks of a configuration."""

    def __init__(self) -> None:
        self.stash = self._store = self

    def getini(self, name: str) -> Any:
        """No setting is on."""
        return [] if name == "python_files" else False

    def __getitem__(self, _key: object) -> Any:
        """The state of the import hook: this."""
        return self

    def trace(self, *_words: object) -> None:
        """Say nothing."""


class _Watch:
    """Selects the tests and notes the first that fails, by what it raised."""

    def __init__(self, tests: list[str]) -> None:
        self._place = {nodeid: number for number, nodeid in enumerate(tests)}
        self.failed = ""
        self.all: list[str] = []
        self.seconds: dict[str, float] = {}

    def pytest_configure(self, config: Any) -> None:
        """Take the order out of the hands of pytest-randomly."""
        if hasattr(config.option, "randomly_seed"):
            config.option.randomly_seed = 0
            config.option.randomly_reorganize = False

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected is noticed, too."""
        if report.failed and not self.failed:
            self.failed = report.nodeid or "collection"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Any:
        """Keep the chosen tests; ids that are gone because the mutant changed the parameters are noticed."""
        yield
        items[:] = [item for item in items if item.nodeid in self._place]
        gone = set(self._place) - {item.nodeid for item in items}
        if gone and not self.failed:
            self.failed = min(gone)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note how long a test takes, and whether it fails."""
        outcome = yield
        report = outcome.get_result()
        self.seconds[item.nodeid] = self.seconds.get(item.nodeid, 0.0) + float(getattr(call, "duration", 0.0) or 0.0)
        if report.failed or report.skipped or (call.excinfo is not None and report.passed):
            self.failed = self.failed or item.nodeid
            self.all.append(item.nodeid)
