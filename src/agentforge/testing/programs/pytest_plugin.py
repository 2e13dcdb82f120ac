"""The pytest plugin that tells what happened, test by test, and plants the canaries."""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH116, PTH118, PTH120, PTH124, PTH208
from __future__ import annotations

import os
import random
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RANK = {"passed": 0, "xpassed": 1, "xfailed": 2, "skipped": 3, "failed": 4, "error": 5}
_VACUOUS = ("PytestReturnNotNoneWarning", "PytestUnhandledCoroutineWarning")
_CHUNK = 500
_FOLDERS = 200


class Evidence:
    """Streams one record for each test.

    The outcome is taken from what the test function raised, not from the report that hooks of the project may rewrite.
    """

    def __init__(
        self, setup: dict[str, Any], *, send: Callable[[dict[str, Any]], None], describe: Callable[..., dict[str, Any]]
    ) -> None:
        self._setup = setup
        self._send = send
        self._describe = describe
        self._wanted = frozenset(one.rstrip("/") for one in setup["tests"])
        self._canaries = tuple(setup["canaries"])
        self._coins = [tuple(one) for one in setup["coins"]]
        self._current: dict[str, Any] = {}
        self._deselected: set[str] = set()
        self._codes: dict[str, tuple[Any, Any]] = {}
        self._started = os.stat(self._setup["scratch"]).st_ctime
        self._swapped: dict[str, bool] = {}
        self._alarm = sys.modules["_agentforge_time_limit"].Alarm(setup.get("test_limit_s", 0.0))

    def pytest_configure(self, config: Any) -> None:
        """Take the order and the seed out of the hands of pytest-randomly."""
        if hasattr(config.option, "randomly_seed"):
            config.option.randomly_seed = self._setup["seed"] or 0
            config.option.randomly_reorganize = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        """Tell of a file that cannot be collected, and why."""
        outcome = yield
        report = outcome.get_result()  # type: ignore[attr-defined]  # a pluggy result, untyped in old pytest
        if not report.failed:
            return
        excinfo = getattr(getattr(report, "call", None), "excinfo", None)
        path = str(getattr(collector, "path", None) or getattr(collector, "fspath", ""))
        record = {"kind": "collect-error", "id": report.nodeid, "text": str(report.longrepr)[:1500], "failure": None}
        if excinfo is not None:
            exc = excinfo.value.__cause__ or excinfo.value
            record["failure"] = self._describe(exc, exc.__traceback__, root=self._setup["root"], test_file=path)
        self._send(record)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session: Any, items: list[Any]) -> Iterator[None]:
        """Record what was collected and what was dropped, select, order by the seed, plant the canaries."""
        before = [item.nodeid for item in items]
        yield
        if self._wanted:
            items[:] = [item for item in items if _selected(item.nodeid, self._wanted)]
            before = [nodeid for nodeid in before if _selected(nodeid, self._wanted)]
        kept = {item.nodeid for item in items} | self._deselected
        self._send_ids("dropped", [nodeid for nodeid in before if nodeid not in kept])
        self._send_ids("collected", [item.nodeid for item in items])
        self._codes = {item.nodeid: _function_and_code(item) for item in items}
        if self._setup["seed"] is not None:
            items[:] = _shuffled(items, self._setup["seed"])
        if not session.config.option.collectonly:
            first, late, end = _plant(session, _places(items, self._setup["root"]), self._canaries)
            self._send({"kind": "planted", "ids": [item.nodeid for item in (*first, *late)]})
            coins = [_function(first[0].parent, name, one, other) for name, one, other in self._coins]
            half = len(coins) // 2
            items[:] = [*first, *coins[:half], *items, *coins[half:], *late, end]

    def pytest_deselected(self, items: list[Any]) -> None:
        """Note what `-k`, `-m` and the like leave out: they say so."""
        self._deselected |= {item.nodeid for item in items}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Announce a test, let it run, and send its result when every hook has had its say."""
        self._current = {"id": item.nodeid, "outcome": None, "duration": 0.0, "failure": None, "problems": []}
        self._send({"kind": "start", "id": item.nodeid})
        yield
        current = self._current
        function, code = self._codes.get(item.nodeid, (None, None))
        if getattr(function, "__code__", None) is not code:
            current["problems"].append("the code of the test was replaced after it was collected")
        if self._from_planted_bytecode(item):
            current["problems"].append("bytecode of the test's file was written while the tests ran")
        if current["problems"] and current["outcome"] == "passed":
            current["outcome"] = "failed"
            current["failure"] = _said("NotAPass", "; ".join(current["problems"]))
        self._send(dict(current, kind="result", outcome=current["outcome"] or "error"))

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Let a test run for as long as it may."""
        self._alarm.arm()
        yield
        self._alarm.disarm()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        """Judge a phase by what it raised."""
        outcome = yield
        report = outcome.get_result()  # type: ignore[attr-defined]  # a pluggy result, untyped in old pytest
        self._current["duration"] += float(getattr(call, "duration", 0.0) or 0.0)
        raised = call.excinfo
        verdict = _phase_outcome(report)
        if report.outcome not in ("passed", "failed", "skipped"):
            self._current["problems"].append(f"the test was {report.outcome}: only the first run counts")
        if raised is not None and verdict == "passed":
            verdict = "failed" if call.when == "call" else "error"
            self._current["problems"].append("a hook turned an exception of the test into a pass")
        if self._worse(verdict, phase=call.when) and verdict in ("failed", "error"):
            self._current["failure"] = self._failure(item, report, raised)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take failures that are reported beside the test's own report (subtests)."""
        if report.failed and report.nodeid == self._current.get("id") and self._current["failure"] is None:
            self._worse("failed", phase=report.when)
            self._current["problems"].append("a part of the test failed")
            self._current["failure"] = _said("SubtestFailed", str(report.longrepr)[-500:])

    def pytest_warning_recorded(self, warning_message: Any, nodeid: str) -> None:
        """A test that returns instead of asserting, or whose coroutine nobody awaits, proves nothing."""
        category, text = warning_message.category.__name__, str(warning_message.message)
        vacuous = category in _VACUOUS or (category == "RuntimeWarning" and "was never awaited" in text)
        if vacuous and nodeid and nodeid == self._current.get("id"):
            self._current["problems"].append(f"{category}: {text[:200]}")

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Tell of a crash inside pytest or one of its plugins."""
        self._send({"kind": "internal-error", "text": str(excrepr)[-1500:]})

    def _worse(self, verdict: str, *, phase: str) -> bool:
        """Keep the worst outcome of the phases; say whether `verdict` became it."""
        now = self._current["outcome"]
        if verdict == "passed" and phase != "call":
            return False
        if now is not None and _RANK[verdict] <= _RANK[now]:
            return False
        self._current["outcome"] = verdict
        return True

    def _failure(self, item: Any, report: Any, raised: Any) -> dict[str, Any]:
        path = str(getattr(item, "path", None) or getattr(item, "fspath", ""))
        if raised is None:
            return _said("StrictXPass", str(report.longrepr)[:500])
        return self._describe(raised.value, raised.value.__traceback__, root=self._setup["root"], test_file=path)

    def _from_planted_bytecode(self, item: Any) -> bool:
        """Whether somebody wrote bytecode for the test's file: the runner itself writes none."""
        path = str(getattr(item, "path", None) or getattr(item, "fspath", ""))
        if path not in self._swapped:
            folder, name = os.path.split(path)
            self._swapped[path] = _planted(os.path.join(folder, "__pycache__"), name[:-2], self._started)
        return self._swapped[path]

    def _send_ids(self, kind: str, ids: list[str]) -> None:
        for start in range(0, len(ids), _CHUNK):
            self._send({"kind": kind, "ids": ids[start : start + _CHUNK]})


def _phase_outcome(report: Any) -> str:
    """passed, failed, error, skipped, xfailed or xpassed."""
    expected = hasattr(report, "wasxfail")
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if report.skipped:
        return "xfailed" if expected else "skipped"
    if report.passed:
        return "xpassed" if expected and report.when == "call" else "passed"
    return "failed"  # an outcome of a plugin's own, like "rerun"


def _said(exc_type: str, message: str) -> dict[str, Any]:
    """A failure that is no exception of the test."""
    text = f"{exc_type}: {message}"
    return {
        "exc_type": exc_type,
        "message": message[:500],
        "file": "",
        "line": 0,
        "in_test": False,
        "names": [],
        "text": text,
    }


def _planted(folder: str, start: str, since: float) -> bool:
    """Whether a folder holds a file that begins so and that was made since then (by the time that nobody can set)."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith(start)]
        return any(os.stat(os.path.join(folder, name)).st_ctime >= since for name in names)
    except OSError:
        return False


def _function_and_code(item: Any) -> tuple[Any, Any]:
    """The function of a test and what it consists of now."""
    function = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    return function, getattr(function, "__code__", None)


def _selected(nodeid: str, wanted: frozenset[str]) -> bool:
    """Whether a test is one of the wanted ones: its id, its file, class, folder, or all cases of a parametrised test."""
    path, _, name = nodeid.partition("::")
    bare = name.partition("[")[0]
    if not wanted.isdisjoint((nodeid, path, f"{path}::{bare}")):
        return True
    owners = bare.split("::")[:-1]
    folders = path.split("/")[:-1]
    return any("::".join((path, *owners[: end + 1])) in wanted for end in range(len(owners))) or any(
        "/".join(folders[: end + 1]) in wanted for end in range(len(folders))
    )


def _shuffled(items: list[Any], seed: int) -> list[Any]:
    """A random order that keeps files, and classes within a file, together."""
    chance = random.Random(seed)
    files: dict[str, dict[str, list[Any]]] = {}
    for item in items:
        path, _, rest = item.nodeid.partition("::")
        group = rest.rpartition("::")[0] or rest
        files.setdefault(path, {}).setdefault(group, []).append(item)
    ordered = []
    for path in chance.sample(sorted(files), len(files)):
        groups = files[path]
        for group in chance.sample(sorted(groups), len(groups)):
            ordered += chance.sample(groups[group], len(groups[group]))
    return ordered


def _places(items: list[Any], root: str) -> list[str]:
    """A test file of every folder that has one: the hooks of a conftest.py reach only what lies below it."""
    found: dict[str, str] = {}
    for item in items:
        path = str(getattr(item, "path", None) or getattr(item, "fspath", root))
        found.setdefault(os.path.dirname(path), path)
    return [found[folder] for folder in sorted(found)[:_FOLDERS]] or [root]


def _plant(session: Any, places: list[str], names: tuple[str, ...]) -> tuple[list[Any], list[Any], Any]:
    """Tests that no file holds: for each folder one that must fail at the start and one at the end; one that comes last."""
    nodes = [_module(session, path, f"{names[0][5:]}_{number}.py") for number, path in enumerate(places)]
    first = [_function(node, names[0], 1, 2) for node in nodes]
    late = [_function(node, names[1], 3, 2) for node in nodes]
    return first, late, _function(nodes[-1], names[2], 2, 2)


def _module(session: Any, path: str, name: str) -> Any:
    """A test module that exists in memory only; hooks believe that it lies at `path`."""
    module = types.ModuleType(name[:-3])
    module.__file__ = path

    class Module(pytest.Module):
        """A collector whose module is given."""

        def _getobj(self) -> types.ModuleType:
            return module

    if hasattr(session, "path"):
        from pathlib import Path

        return Module.from_parent(session, path=Path(path), nodeid=name)
    from py.path import local  # type: ignore[import-untyped]  # pytest 6 knows no other path

    return Module.from_parent(session, fspath=local(path), nodeid=name)


def _function(node: Any, name: str, one: Any, other: Any) -> Any:
    """A test that passes when both are the same."""
    body = sys.modules["_agentforge_planted"].canary(one, other)
    body.__name__ = body.__qualname__ = name
    return pytest.Function.from_parent(node, name=name, callobj=body)
