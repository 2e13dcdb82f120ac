"""Runs tests against mutants: the runner is imported once, each mutant is written to the checkout and run in a fork.

The server itself runs no code of the project, so what it says of a mutant cannot be said by the mutant.
"""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH116, PTH118, PTH123
from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_S, _TESTS_FACTOR, _START_FACTOR = 1.0, 4.0, 2.0
_FIRST_S = 4.0
_CHUNK = 65_536
_CONTROL = b"raise RuntimeError('control: this file is loaded from the checkout')\n"
_NEVER_AHEAD = ("conftest", "grpc", "sitecustomize", "usercustomize", "__main__")


def run(
    setup: dict[str, Any],
    *,
    send: Callable[[dict[str, Any]], None],
    judge: Callable[..., dict[str, Any]],
    ahead: Callable[[list[str]], None],
) -> int:
    """Run the unchanged code, then every mutant against its own tests until the time is over.

    Args:
        setup: `mutants` is {rows: [{number, path, data (hex), tests, every}], tests, budget_s, limit_s}.
        judge: runs tests in this (forked) process: (setup, tests) -> {failed, all, ran, seconds}; stops at the first
            failure unless setup["every"].
        ahead: imports installed modules that every fork would import anew.
    Side effects: changes and restores files of the checkout, which is thrown away.
    """
    send({"kind": "hello", "python": sys.version.split()[0], "runner": setup["runner"]})
    os.chdir(setup["root"])
    sys.pycache_prefix = os.path.join(setup["scratch"], "pyc")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    plan = setup["mutants"]
    began = time.monotonic()
    first = _forked(dict(setup, every=False), plan["tests"], judge, limit_s=plan["limit_s"])
    seconds = first.pop("seconds", {})
    startup = max(0.0, time.monotonic() - began - sum(seconds.values()))
    modules = first.pop("modules", [])
    send(dict(first, kind="unchanged", duration=time.monotonic() - began))
    if first["status"] != "survived":
        return 1
    ahead(modules)
    killed_in: set[str] = set()
    over = _clock(plan["budget_s"], busy=_share_of_cpu(began))
    for row in plan["rows"]:
        if over():
            send({"kind": "mutant", "number": row["number"], "status": "not run", "by": "", "ran": 0, "all": []})
            continue
        limit_s = (
            _LEAST_S + _START_FACTOR * startup + _TESTS_FACTOR * sum(seconds.get(one, 0.0) for one in row["tests"])
        )
        told = _mutated(setup, row, judge, limit_s=limit_s)
        if told["status"] != "survived":
            killed_in.add(row["path"])
        send(
            {
                "kind": "mutant",
                "number": row["number"],
                **{key: told.get(key, []) for key in ("status", "by", "ran", "all")},
            }
        )
    for path in sorted({row["path"] for row in plan["rows"]} - killed_in):
        tests = sorted({one for row in plan["rows"] if row["path"] == path for one in row["tests"]})
        control = {"path": path, "data": _CONTROL.hex(), "tests": tests, "number": -1}
        told = _mutated(setup, control, judge, limit_s=_LEAST_S + _START_FACTOR * startup + plan["limit_s"])
        send({"kind": "control", "path": path, "held": told["status"] != "survived"})
    spent = os.times()
    send({"kind": "spent", "cpu_s": round(sum(spent[:4]), 3)})
    return 0


def _share_of_cpu(began: float) -> float:
    """CPU seconds of a second of the first run: much less than one where the machine is busy or the tests wait."""
    return min(1.0, sum(os.times()[:4]) / max(time.monotonic() - began, 0.01))


def _clock(budget_s: float, *, busy: float) -> Callable[[], bool]:
    """Tell whether the time for mutants is over.

    A busy machine takes longer for the same work; it must not be the reason that nothing is known of the tests. So the
    first seconds are of CPU, with a bound by the clock; what goes beyond is a share of a time that was measured by the clock.
    """
    before, began = sum(os.times()[:4]), time.monotonic()
    allowed = min(budget_s, _FIRST_S) + max(0.0, budget_s - _FIRST_S) * busy
    return lambda: sum(os.times()[:4]) - before > allowed or time.monotonic() - began > 2 * budget_s


def _mutated(
    setup: dict[str, Any], row: dict[str, Any], judge: Callable[..., dict[str, Any]], *, limit_s: float
) -> dict[str, Any]:
    """Run one mutant: write it, run its tests, put the file back."""
    path = os.path.join(setup["root"], row["path"])
    with open(path, "rb") as file:
        original = file.read()
    known = os.stat(path).st_mtime_ns
    later = known + (row["number"] + 2) * 2_000_000_000  # bytecode is known by whole seconds
    try:
        _write(path, bytes.fromhex(row["data"]), later)
        return _forked(dict(setup, every=row.get("every", False)), row["tests"], judge, limit_s=limit_s)
    finally:
        _write(path, original, known)


def _write(path: str, data: bytes, mtime_ns: int) -> None:
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def _forked(
    setup: dict[str, Any], tests: list[str], judge: Callable[..., dict[str, Any]], *, limit_s: float
) -> dict[str, Any]:
    """Run tests in a fork; a fork that is still there at the limit, or ends without a word, did not survive."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _in_fork(setup, tests, judge, write_end)
    os.close(write_end)
    data, over = _drained(read_end, time.monotonic() + limit_s)
    os.close(read_end)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)  # it had no time to become a group of its own
    os.waitpid(child, 0)
    if over:
        return {"status": "timeout", "by": "", "ran": 0}
    try:
        told = json.loads(data)
    except ValueError:
        return {"status": "crashed", "by": "", "ran": 0}
    status = "killed" if told["failed"] else "survived"
    if not told["ran"] and not told["failed"]:
        status = "crashed"
    return {**told, "status": status, "by": told["failed"]}


def _in_fork(setup: dict[str, Any], tests: list[str], judge: Callable[..., dict[str, Any]], write_end: int) -> None:
    leave = os._exit
    try:
        os.setsid()
        os.set_inheritable(write_end, False)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        before = set(sys.modules)
        told = judge(setup, tests)
        told["modules"] = _foreign(set(sys.modules) - before, setup["root"])
        data = json.dumps(told).encode()
        while data:
            data = data[os.write(write_end, data) :]
    finally:
        leave(0)


def _drained(descriptor: int, deadline: float) -> tuple[bytes, bool]:
    """Everything that the fork says until it ends, and whether its time was over."""
    chunks: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return b"".join(chunks), True
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            return b"".join(chunks), False
        chunks.append(chunk)


def _foreign(names: set[str], root: str) -> list[str]:
    """Modules from outside the checkout that the tests import: every fork would import them anew."""
    found = []
    for name in sorted(names):
        path = getattr(sys.modules.get(name), "__file__", None)
        installed = isinstance(path, str) and (not path.startswith(root + os.sep) or "site-packages" in path)
        if installed and name.split(".")[0] not in _NEVER_AHEAD:
            found.append(name)
    return found
