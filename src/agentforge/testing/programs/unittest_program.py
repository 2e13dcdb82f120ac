"""Runs a unittest suite and tells what happened, test by test."""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH113, PTH118, PTH120
from __future__ import annotations

import os
import random
import sys
import time
import unittest
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RANK = {"passed": 0, "xpassed": 1, "xfailed": 2, "skipped": 3, "failed": 4, "error": 5}


def prepare() -> None:
    """Import what of unittest is watched from the start, before the checkout is on `sys.path`."""
    import unittest  # noqa: F401

    sys.modules["__main__"].load("time_limit")


def run(
    setup: dict[str, Any], *, send: Callable[[dict[str, Any]], None], describe: Callable[..., dict[str, Any]]
) -> int:
    """Discover and run the suite in this process.

    Returns:
        0 when every test passed, else 1; no verdict, the records are.
    """
    send({"kind": "hello", "python": sys.version.split()[0], "runner": "unittest"})
    os.chdir(setup["root"])
    tests = _discovered(setup)
    broken = [test for test in tests if type(test).__name__ == "_FailedTest"]
    for test in broken:
        _report_broken(test, setup, send=send, describe=describe)
    chosen = [test for test in tests if test not in broken]
    wanted = frozenset(one.rstrip("/") for one in setup["tests"])
    if wanted:
        chosen = [test for test in chosen if _selected(test_id(test, setup["root"]), wanted)]
    ids = [test_id(test, setup["root"]) for test in chosen]
    for start in range(0, len(ids), 500):
        send({"kind": "collected", "ids": ids[start : start + 500]})
    if "--collect-only" in setup["arguments"]:
        return 0
    if setup["seed"] is not None:
        chance = random.Random(setup["seed"])
        classes = sorted({type(test).__qualname__ for test in chosen})
        rank = {name: place for place, name in enumerate(chance.sample(classes, len(classes)))}
        chosen.sort(key=lambda test: rank[type(test).__qualname__])
    send({"kind": "planted", "ids": list(setup["canaries"][:2])})
    first, late, end = setup["canaries"]
    coins = [_Canary(*one) for one in setup["coins"]]
    half = len(coins) // 2
    suite = unittest.TestSuite([_Canary(first, 1, 2), *coins[:half], *chosen])
    suite.addTests([*coins[half:], _Canary(late, 3, 2), _Canary(end, 2, 2)])
    result = Evidence(setup, send=send, describe=describe, chosen=chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        suite.run(result)
    return 0 if result.wasSuccessful() else 1


def ahead(names: list[str]) -> None:
    """Import installed modules before the forks do."""
    import importlib

    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - a module that needs what comes before it: the forks import it
            continue


def judge(setup: dict[str, Any], tests: list[str]) -> dict[str, Any]:
    """Run chosen tests until the first that does not pass: whether a mutant is noticed.

    Returns:
        {failed: the first id that did not pass or "", all: all of them, ran, seconds: id -> seconds}.
    """
    found = _discovered(setup)
    broken = [test for test in found if type(test).__name__ == "_FailedTest"]
    by_id = {test_id(test, setup["root"]): test for test in found if test not in broken}
    gone = [name for name in tests if name not in by_id]
    seconds: dict[str, float] = {}
    bad = list(gone)
    for name in tests if not gone else ():
        result = unittest.TestResult()
        started = time.perf_counter()
        unittest.TestSuite([by_id[name]]).run(result)
        seconds[name] = time.perf_counter() - started
        if not result.wasSuccessful() or result.skipped:
            bad.append(name)
            if not setup["every"]:
                break
    return {"failed": bad[0] if bad else "", "all": bad, "ran": len(seconds), "seconds": seconds}


def test_id(test: Any, root: str) -> str:
    """A pytest-like id: `tests/test_x.py::Class::method`."""
    module = sys.modules.get(type(test).__module__)
    path = getattr(module, "__file__", None)
    relative = os.path.relpath(path, root) if path else str(type(test).__module__)
    method = getattr(test, "_testMethodName", None) or str(test)
    return f"{relative}::{type(test).__qualname__}::{method}"


class Evidence(unittest.TestResult):
    """Streams one record for each test."""

    def __init__(
        self,
        setup: dict[str, Any],
        *,
        send: Callable[[dict[str, Any]], None],
        describe: Callable[..., dict[str, Any]],
        chosen: list[Any],
    ) -> None:
        super().__init__()
        self._setup = setup
        self._chosen = chosen
        self._send_record = send
        self._describe = describe
        self._current: dict[str, Any] = {}
        self._started = 0.0
        self._alarm = sys.modules["_agentforge_time_limit"].Alarm(setup.get("test_limit_s", 0.0))

    def startTest(self, test: Any) -> None:  # noqa: N802 - unittest's name
        """Announce a test."""
        super().startTest(test)
        self._begin(test)
        self._alarm.arm()

    def _begin(self, test: Any) -> None:
        name = test_id(test, self._setup["root"]) if not isinstance(test, _Canary) else test.name
        self._current = {"id": name, "outcome": None, "duration": 0.0, "failure": None, "problems": []}
        self._started = time.perf_counter()
        self._send_record({"kind": "start", "id": name})

    def stopTest(self, test: Any) -> None:  # noqa: N802 - unittest's name
        """Send the result of a test."""
        self._alarm.disarm()
        super().stopTest(test)
        self._current["duration"] = time.perf_counter() - self._started
        outcome = self._current["outcome"] or "error"
        self._send_record(dict(self._current, kind="result", outcome=outcome))
        self._current = {}

    def addSuccess(self, test: Any) -> None:  # noqa: N802 - unittest's name
        """Record a pass."""
        super().addSuccess(test)
        self._worse("passed")

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802 - unittest's name
        """Record a failed assertion."""
        super().addFailure(test, err)
        self._failed("failed", test, err)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802 - unittest's name
        """Record an exception; outside a test (class or module set-up) it is a collection error."""
        super().addError(test, err)
        if self._current:
            self._failed("failed" if hasattr(test, "_testMethodName") else "error", test, err)
            return
        failure = self._describe(err[1], err[2], root=self._setup["root"], test_file="")
        if not self._shared("error", test, failure):
            self._send_record({"kind": "collect-error", "id": str(test), "text": failure["text"], "failure": failure})

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802 - unittest's name
        """Record a skip; one of a set-up is one of every test that it was for. Python 3.12.1 starts no skipped test."""
        super().addSkip(test, reason)
        if not self._current and (self._shared("skipped", test, None) or not hasattr(test, "_testMethodName")):
            return
        if not self._current:
            self._begin(test)
        self._worse("skipped")

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802 - unittest's name
        """Record a failure that the test expects."""
        super().addExpectedFailure(test, err)
        self._worse("xfailed")

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802 - unittest's name
        """Record a pass that the test does not expect."""
        super().addUnexpectedSuccess(test)
        self._worse("xpassed")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802 - unittest's name
        """Record a failed part of a test."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed("failed", test, err)

    def _shared(self, outcome: str, holder: Any, failure: dict[str, Any] | None) -> bool:
        """Give every test of a class or module the outcome of its set-up, which ran instead of them; whether there are any."""
        what, _, owner = str(getattr(holder, "description", "")).rstrip(")").partition(" (")
        if what not in ("setUpClass", "setUpModule"):
            return False
        mine = [test for test in self._chosen if owner in (type(test).__module__, _class_name(test))]
        for test in mine:
            self._begin(test)
            self._send_record(dict(self._current, kind="result", outcome=outcome, failure=failure))
        self._current = {}
        return bool(mine)

    def _failed(self, outcome: str, test: Any, err: Any) -> None:
        if not self._worse(outcome):
            return
        path = getattr(sys.modules.get(type(test).__module__), "__file__", None) or ""
        self._current["failure"] = self._describe(err[1], err[2], root=self._setup["root"], test_file=path)

    def _worse(self, outcome: str) -> bool:
        now = self._current.get("outcome")
        if now is not None and _RANK[outcome] <= _RANK[now]:
            return False
        self._current["outcome"] = outcome
        return True


def _class_name(test: Any) -> str:
    return f"{type(test).__module__}.{type(test).__qualname__}"


def _discovered(setup: dict[str, Any]) -> list[Any]:
    """Every test below the start folders, flattened."""
    loader = unittest.TestLoader()
    found: list[Any] = []
    for start in setup["paths"] or ["."]:
        folder = os.path.join(setup["root"], start)
        pattern = "test*.py"
        if os.path.isfile(folder):
            folder, pattern = os.path.split(folder)
        top = folder
        while os.path.isfile(os.path.join(top, "__init__.py")) and top != setup["root"]:
            top = os.path.dirname(top)
        found += list(_flat(loader.discover(folder, pattern=pattern, top_level_dir=top)))
        loader._top_level_dir = None  # type: ignore[attr-defined]  # a loader remembers its first top folder
    return found


def _flat(suite: Any) -> Iterator[Any]:
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _flat(part)
        else:
            yield part


def _report_broken(
    test: Any, setup: dict[str, Any], *, send: Callable[[dict[str, Any]], None], describe: Callable[..., dict[str, Any]]
) -> None:
    """Tell of a module that cannot be imported: import it once more to see the exception itself."""
    import importlib

    name = str(test._testMethodName)
    record: dict[str, Any] = {
        "kind": "collect-error",
        "id": name,
        "text": str(test._exception)[-1500:],
        "failure": None,
    }
    try:
        importlib.import_module(name)
    except BaseException as exc:  # noqa: BLE001 - a module may raise anything, SystemExit too
        record["failure"] = describe(exc, exc.__traceback__, root=setup["root"], test_file="")
        record["text"] = record["failure"]["text"]
    record["id"] = name.replace(".", "/") + ".py"
    send(record)


def _selected(nodeid: str, wanted: frozenset[str]) -> bool:
    """Whether a test is one of the wanted ones: its id, its class, its file or a folder of it."""
    path, *names = nodeid.split("::")
    parts = path.split("/")
    return any("::".join((path, *names[:end])) in wanted for end in range(len(names) + 1)) or any(
        "/".join(parts[:end]) in wanted for end in range(1, len(parts))
    )


class _Canary(unittest.TestCase):
    """A test that no file holds."""

    def __init__(self, name: str, one: object, other: object) -> None:
        super().__init__("compare")
        self.name = name
        self.one = one
        self.other = other

    def compare(self) -> None:
        """Fail unless both are the same."""
        self.assertEqual(self.one, self.other)
