"""Evaluates the same calls in processes whose circumstances differ; tells results, effects and which arguments a call changed.

Started like `plain_program.py`, whose text stands before this one, as that of `stand_ins_program.py` does. A supervisor that
imports nothing of the project starts an interpreter for each run: with its own flags, variables, folder and arguments. Which
results are right only the caller knows.
"""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH104, PTH109, PTH117, PTH118
from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.testing.programs.plain_program import _encoder, _enter, _imported, _message, _told_by, _write
    from agentforge.testing.programs.stand_ins_program import _in_a_test, _stand_in

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_SHORT_S = 0.05
_PLACE = [""]
_EFFECTS_MOST = 200
_EVENTS = {
    "socket.connect": "network", "socket.bind": "network", "socket.getaddrinfo": "network", "socket.sendto": "network",
    "subprocess.Popen": "process", "os.system": "process", "os.exec": "process", "os.posix_spawn": "process",
    "os.fork": "process", "os.kill": "process", "pty.spawn": "process",
    "os.remove": "file", "os.rename": "file", "os.rmdir": "file", "os.mkdir": "file", "os.chmod": "file",
    "os.truncate": "file", "os.link": "file", "os.symlink": "file", "shutil.rmtree": "file",
    "ctypes.dlopen": "native code", "sys.addaudithook": "interpreter",
}  # fmt: skip


def supervise(setup: dict[str, Any]) -> None:
    """Carry out every run, one after the other, and pass on what each told.

    Args:
        setup: `code` is this program as it was compiled for all of them, in hexadecimal digits.
    Side effects: leaves by `os._exit`.
    """
    descriptor, nonce = setup.pop("descriptor"), setup.pop("nonce")
    os.set_inheritable(descriptor, False)
    until = time.monotonic() + setup["within_s"]
    for number, run in enumerate(setup["runs"]):
        begun, left = sum(os.times()[:4]), until - time.monotonic()
        if left <= 0:
            break
        run["timeout_s"] = min(run["timeout_s"], left)
        rows, ended = _carried_out(setup, run)
        record = {"run": number, "rows": rows, "ended": ended, "cpu_s": sum(os.times()[:4]) - begun, "nonce": nonce}
        _write(descriptor, json.dumps(record).encode("ascii") + b"\n")
    os._exit(0)


def _carried_out(setup: dict[str, Any], run: dict[str, Any]) -> tuple[list[Any], str]:
    """One interpreter for one run; what it told, and how it ended: done, ended early, or timed out."""
    hidden = [(os.path.join(setup["root"], one), os.path.join(setup["root"], one) + ".away") for one in run["without"]]
    for path, away in hidden:
        os.rename(path, away)
    reading, writing = os.pipe()
    script, feeding = os.pipe()
    child = os.fork()
    if child == 0:
        _become(setup, run, script, writing, (reading, feeding))
    os.close(writing)
    os.close(script)
    told = {key: setup[key] for key in ("root", "roots", "pythonpath", "user_site")}
    instructions = json.dumps({**told, **run, "writing": writing})
    text = (
        "import marshal, sys\nsys.path[:] = [entry for entry in sys.path if entry]\n"
        f"exec(marshal.loads(bytes.fromhex({setup['code']!r})))\nreplay(json.loads({instructions!r}))\n"
    )
    with contextlib.suppress(BrokenPipeError):  # it ended before it read anything: the rows say so
        _write(feeding, text.encode())
    os.close(feeding)
    rows, ended = _told_by(child, reading, run["timeout_s"])
    for path, away in hidden:
        os.rename(away, path)
    return rows, ended


def _become(setup: dict[str, Any], run: dict[str, Any], script: int, writing: int, unused: tuple[int, ...]) -> None:
    """Turn the forked child into the interpreter of a run. Never returns."""
    try:
        for one in unused:
            os.close(one)
        os.setpgid(0, 0)
        os.dup2(script, 0)
        os.set_inheritable(writing, True)
        variables = {**({} if run["bare"] else os.environ), **run["variables"]}
        os.execve(sys.executable, [sys.executable, *run["flags"], "-"], variables)
    finally:
        os._exit(1)


def replay(run: dict[str, Any]) -> None:
    """Evaluate the calls of a run and leave. Never returns."""
    write, leave, dumps, writing = _write, os._exit, json.dumps, run["writing"]
    os.set_inheritable(writing, False)
    try:
        _stand_in(run)
        _enter(run)
        os.chdir(run["folder"] or run["root"])
        sys.argv = [run["program"]]
        if run["tested"]:
            _PLACE[:] = [_in_a_test(run["root"])]
        watch = _Watch(run) if run["watched"] else None
        calls = list(enumerate(run["calls"]))
        for number, call in reversed(calls) if run["reversed"] else calls:
            if watch is not None:
                watch.number, watch.source = number, call["source"]
            row = {"number": number, **_of_call(call, run["times"])}
            write(writing, dumps(row).encode("ascii") + b"\n")
            if watch is not None:
                watch.look()
        for number, call in calls if run["shares"] else ():
            if _is_shared(call):
                write(writing, dumps({"number": number, "shared": True}).encode("ascii") + b"\n")
        if watch is not None:
            write(writing, dumps({"effects": watch.found}).encode("ascii") + b"\n")
        write(writing, b"\n")
    finally:
        leave(0)


def _of_call(call: dict[str, Any], times: int) -> dict[str, Any]:
    """The result of a call, the first other result when it is repeated, and whether it changed its arguments."""
    first, altered, _ = _once(call)
    row: dict[str, Any] = {"first": first}
    if altered:
        row["altered"] = altered
    until = time.perf_counter() + _SHORT_S
    for count in range(2, times + 1):
        told, _, _ = _once(call)
        if told != first:
            row["again"], row["count"] = told, count
            break
        if time.perf_counter() > until:
            break
    return row


def _once(call: dict[str, Any]) -> tuple[dict[str, Any], list[str], Any]:
    """Evaluate a call: what it told, the arguments that it changed, and the result itself."""
    encode, names, stage = _encoder(), {}, "import"
    given: list[tuple[str, Any, Any]] = []
    value: Any = None
    try:
        for name, (modules, attribute) in call["names"].items():
            module = _imported(modules)
            if module is None:
                return {"lost": modules}, [], None
            names[name] = getattr(module, attribute) if attribute else sys.modules.get(name, module)
        stage = "call"
        value = _value(ast.parse(call["source"], mode="eval").body, {"__name__": "__main__", **names}, given)
        told = {"value": encode(value)}
        if told["value"][0] == "object":
            told["value"].append(_shape(value))
    except BaseException as exc:  # noqa: BLE001 - whatever the project raises is the result
        known = {name: one for name, one in vars(__import__("builtins")).items() if isinstance(one, type)}
        bases = [[one.__name__, known.get(one.__name__) is one] for one in type.__dict__["__mro__"].__get__(type(exc))]
        told = {"raised": bases, "stage": stage, "message": _message(exc)}
    return told, [source for source, one, before in given if _encoder()(one) != before], value


def _value(tree: ast.expr, names: dict[str, Any], given: list[tuple[str, Any, Any]]) -> Any:
    """Evaluate a call; of arguments that can be changed and are written out, remember what they were."""

    def evaluated(node: ast.expr) -> Any:
        found = (
            _in_function(node, names) if _PLACE[0] else eval(compile(ast.Expression(node), "<stdin>", "eval"), names)
        )
        if isinstance(node, (ast.List, ast.Dict, ast.Set)):
            given.append((ast.unparse(node) if hasattr(ast, "unparse") else "an argument", found, _encoder()(found)))
        return found

    if isinstance(tree, ast.Call) and not _PLACE[0] and not any(isinstance(one, ast.Starred) for one in tree.args):
        function = evaluated(tree.func)
        arguments = [evaluated(one) for one in tree.args]
        named: dict[str, Any] = {}
        for one in tree.keywords:
            named.update({one.arg: evaluated(one.value)} if one.arg else evaluated(one.value))
        value = function(*arguments, **named)
    else:
        value = evaluated(tree)
    if type(value).__name__ == "coroutine":
        import asyncio

        value = asyncio.run(value)
    return value


def _in_function(node: ast.expr, names: dict[str, Any]) -> Any:
    """Evaluate an expression in a function of a test, as a runner would have it."""
    module = ast.parse("def test_it(): return None")
    module.body[0].body[0].value = node  # type: ignore[attr-defined]  # the function that was written one line above
    inside = dict(names)
    exec(compile(ast.fix_missing_locations(module), _PLACE[0], "exec"), inside)
    return inside["test_it"]()


def _shape(value: Any) -> str:
    """What an object of the project's own shows of itself, without addresses."""
    import datetime

    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    try:
        owner = next(one for one in type(value).__mro__ if "__repr__" in vars(one))
        text = repr(sorted(vars(value))) if owner is object else repr(value)
    except Exception as problem:  # noqa: BLE001 - the project's __repr__ may raise anything
        text = type(problem).__name__
    return _ADDRESS.sub("0x", text)[:2_000]


def _is_shared(call: dict[str, Any]) -> bool:
    """Whether what a caller does to a result is seen by the next caller, who gives arguments of his own."""
    told, _, value = _once(call)
    if type(value) not in (list, dict, set) or not value:
        return False
    value.clear()
    again, _, _ = _once(call)
    return again != told


class _Watch:
    """Notices what calls do beside giving a result: events of the interpreter, and its state before and after."""

    def __init__(self, run: dict[str, Any]) -> None:
        self.number, self.source = -1, ""
        self.found: list[list[Any]] = []
        self._temporary = [os.path.realpath(one) for one in (os.environ.get("TMPDIR", "/tmp"), os.devnull)]
        self._root = run["root"]
        self._state = _state()
        self._looking = False
        sys.addaudithook(self._audit)

    def look(self) -> None:
        """Compare the interpreter's state with what it was before."""
        now = _state()
        for kind, value in now.items():
            if value != self._state[kind]:
                self._add(kind, "changed")
        self._state = now

    def _add(self, kind: str, detail: str) -> None:
        row = [self.number, kind, detail[:120]]
        if len(self.found) < _EFFECTS_MOST and row not in self.found:
            self.found.append(row)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._looking or self.number < 0 or (event not in _EVENTS and event != "open"):
            return
        self._looking = True
        try:
            with contextlib.suppress(Exception):  # an object of the project in the place of a path says nothing
                self._told(event, arguments)
        finally:
            self._looking = False

    def _told(self, event: str, arguments: tuple[Any, ...]) -> None:
        kind = _EVENTS.get(event, "file")
        if kind != "file":
            what = arguments[-1] if event in ("socket.connect", "socket.sendto") else arguments[0] if arguments else ""
            return self._add(kind, f"{event} {what}")
        path = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes)) else ""
        if not path or path in self.source or path.endswith((".pyc", ".so")) or "__pycache__" in path:
            return None
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            near = not os.path.isabs(path) or path.startswith(self._root + os.sep)
            inside = path[len(self._root) + 1 :] if os.path.isabs(path) else path
            return self._add("reads", inside) if near and not path.endswith(".py") else None
        if not any(os.path.realpath(path).startswith(one) for one in self._temporary):
            self._add("file", f"{event} {path}")
        return None


def _state() -> dict[str, Any]:
    """What a call may leave changed in its process."""
    import datetime
    import logging
    import random
    import threading
    import warnings

    root, ssl = logging.getLogger(), sys.modules.get("ssl")
    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "logging": (root.level, len(root.handlers), root.manager.disable),
        "chance": random.getstate(),
        "warnings": len(warnings.filters),
        "threads": threading.active_count(),
        "TLS": ssl is not None and ssl._create_default_https_context is not ssl.create_default_context,
        "signals": [str(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)],
        "interpreter": [id(sys.excepthook), id(sys.gettrace()), id(sys.getprofile()), sys.getrecursionlimit()],
        "clock": [id(time.time), id(datetime.datetime)],
    }
