"""Records which lines of the checkout each test executes, with coverage.py, and steps aside where another tracer works.

Calls of functions in some files are written down beside it (`recorded_calls.py`).
"""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH100, PTH103, PTH118, PTH119, PTH120, PTH123, PTH208
from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 200
_SPAWNS = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.spawn")
_SHEBANG = 200


class _Marks:
    """Takes the place of coverage's database, which costs several times what the tests cost where there are many contexts.

    Attributes:
        seen: context -> file -> a bit for each executed line.
    """

    def __init__(self) -> None:
        self.seen: dict[str, dict[str, int]] = {}
        self._known: dict[frozenset[int], int] = {}
        self._now = ""

    def set_context(self, name: str | None) -> None:
        """Say what is executed from here on."""
        self._now = name or ""

    def add_lines(self, executed: dict[str, Any]) -> None:
        """Add executed lines of files to the context."""
        marks = self.seen.setdefault(self._now, {})
        for path, lines in executed.items():
            marks[path] = marks.get(path, 0) | self._bits(lines)

    def add_file_tracers(self, _tracers: dict[str, str]) -> None:
        """Ignore plug-ins: there are none."""

    def _bits(self, lines: Any) -> int:
        """The lines as bits; tests execute much the same lines of a file over and over."""
        key = frozenset(lines)
        found = self._known.get(key)
        if found is None:
            data = bytearray(max(key, default=0) // 8 + 1)
            for line in key:
                if line > 0:
                    data[line >> 3] |= 1 << (line & 7)
            found = self._known[key] = int.from_bytes(data, "little")
        return found


class Recorder:
    """Switches the context with each test and tells at the end what every test executed.

    Coverage's own modules are hidden while the project runs, so that a project imports what it would import without us.
    """

    def __init__(self, setup: dict[str, Any], *, package: Any, owner: str, calls: Any) -> None:
        self._setup = setup
        self._calls = calls
        self._package = package
        self._owner = owner
        self._now = ""
        self._lost = ""
        self._spawned: dict[str, int] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._coverage = package.Coverage(
                data_file=None, config_file=False, include=setup["include"], omit=setup["omit"], messages=False
            )
            self._coverage.start()
        self._tracer = sys.gettrace()
        self._marks = _Marks()
        collector: Any = getattr(self._coverage, "_collector", None)  # there is no public way past the database
        self._quick = hasattr(collector, "covdata") and hasattr(collector, "flush_data")
        if self._quick:
            collector.covdata = self._marks
        self._hidden = {name: module for name, module in sys.modules.items() if _is_coverage(name)}
        for name in self._hidden:
            del sys.modules[name]
        sys.addaudithook(self._audit)

    def follow(self, send: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
        """Wrap the sender of records: what a test starts and ends is known from its records."""

        def following(record: dict[str, Any]) -> None:
            if record["kind"] == "start":
                self._enter(str(record["id"]))
            elif record["kind"] == "result":
                self._leave(str(record["id"]))
            send(record)

        return following

    def close(self, send: Callable[[dict[str, Any]], None]) -> None:
        """Stop, and send what was executed: for each test its files with a bit for each line.

        Side effects: the project's own coverage modules are replaced by ours; nothing of the project may run after this.
        """
        for name in [name for name in sys.modules if _is_coverage(name)]:
            del sys.modules[name]
        sys.modules.update(self._hidden)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._coverage.stop()
            seen = self._marks.seen
            if self._quick:
                self._coverage._collector.flush_data()
            else:
                _add(seen, self._coverage.get_data(), None)
            followed = self._add_children(seen)
        opaque = sorted(name for name, count in self._spawned.items() if name and followed.get(name, 0) < count)
        files = sorted({path for marks in seen.values() for path in marks})
        place = {path: number for number, path in enumerate(files)}
        root = self._setup["root"]
        told = [os.path.relpath(path, root) for path in files]
        send(
            {
                "kind": "coverage", "core": type(self._tracer).__name__, "owner": self._owner, "files": told,
                "lost": self._lost, "opaque": opaque[:500],
            }
        )  # fmt: skip
        rows = [[name, [[place[path], f"{bits:x}"] for path, bits in marks.items()]] for name, marks in seen.items()]
        for start in range(0, len(rows), _CHUNK):
            send({"kind": "executed", "tests": rows[start : start + _CHUNK]})
        send({"kind": "calls", "calls": self._calls.rows})

    def _enter(self, name: str) -> None:
        self._switch(name)
        self._calls.begin()

    def _leave(self, name: str) -> None:
        self._calls.end()
        if not self._lost and sys.gettrace() is not self._tracer:
            self._lost = name
        self._switch("")

    def _switch(self, name: str) -> None:
        self._now = name
        self._coverage.switch_context(name)
        with open(os.path.join(self._setup["out"], "now"), "w", encoding="utf-8") as file:
            file.write(name)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Count the children of a test that may run Python: what they execute is known only if they tell."""
        if event == "os.posix_spawn" and sys._getframe(1).f_globals.get("__name__") == "subprocess":
            return  # `subprocess.Popen` was told before it; Python 3.13 starts nearly every child like this
        if event == "os.fork" or (event in _SPAWNS and _is_python(arguments)):
            self._spawned[self._now] = self._spawned.get(self._now, 0) + 1

    def _add_children(self, seen: dict[str, dict[str, int]]) -> dict[str, int]:
        """Add what child processes executed; returns how many told for each test."""
        followed: dict[str, int] = {}
        out = self._setup["out"]
        for name in sorted(os.listdir(out)):
            if not name.startswith("child-") or name.endswith("-journal"):
                continue
            try:
                data = self._package.CoverageData(basename=os.path.join(out, name))
                data.read()
                context = next((one for one in data.measured_contexts() if one), "")
                _add(seen, data, context)
            except self._package.CoverageException:
                continue  # a child that was killed while it wrote: it counts as one that did not tell
            followed[context] = followed.get(context, 0) + 1
        return followed


def open_recorder(setup: dict[str, Any]) -> tuple[Recorder | None, str]:
    """Start recording.

    Args:
        setup: {package, root, include, omit, out, called}: our coverage, what is recorded, a folder for children, and the files
            whose calls are written down.
    Returns:
        the recorder, or None and why there is none.
    """
    if sys.gettrace() is not None:
        return None, "another tracer was there before the tests"
    if not _is_text(setup["root"]):
        return None, "coverage records nothing below a folder whose name is no UTF-8"
    os.makedirs(setup["out"], exist_ok=True)
    reasons = []
    calls = sys.modules["__main__"].load("recorded_calls").Calls(setup["called"], setup["root"])
    for owner in ("ours", "the project's"):
        try:
            package = _ours(setup["package"]) if owner == "ours" else importlib.import_module("coverage")
            recorder = Recorder(setup, package=package, owner=owner, calls=calls)
        except Exception as exc:  # noqa: BLE001 - a package for another python may fail in any way
            for name in [name for name in sys.modules if _is_coverage(name)]:
                del sys.modules[name]
            reasons.append(f"{owner} coverage cannot be used here: {type(exc).__name__}: {str(exc)[:120]}")
            continue
        _for_children(setup)
        return recorder, ""
    return None, "; ".join(reasons)


def _ours(folder: str) -> Any:
    """Load our coverage from its folder alone, so that nothing else of ours gets on the project's path."""
    start = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("coverage", start, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no coverage at {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage"] = module
    spec.loader.exec_module(module)
    return module


def _for_children(setup: dict[str, Any]) -> None:
    """Let python processes that tests start record too: a start-up file of ours comes first on their path."""
    told = {key: setup[key] for key in ("package", "include", "omit", "out")}
    os.environ["AGENTFORGE_TRACE"] = json.dumps(told)
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")
    os.environ["PYTHONPATH"] = os.pathsep.join([own, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


def _add(seen: dict[str, dict[str, int]], data: Any, context: str | None) -> None:
    """Add executed lines as bits; `context` overrides the contexts of the data."""
    for path in data.measured_files():
        for line, names in data.contexts_by_lineno(path).items():
            if line < 1:
                continue
            for name in (context,) if context is not None else names:
                marks = seen.setdefault(name, {})
                marks[path] = marks.get(path, 0) | (1 << line)


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_coverage(name: str) -> bool:
    return name == "coverage" or name.startswith("coverage.")


def _is_python(arguments: tuple[Any, ...]) -> bool:
    """Whether a command starts a python: by its name, by the first line of a script, or by the words of a shell line."""
    words = [str(one) for one in arguments[:2] for one in (one if isinstance(one, (list, tuple)) else [one])]
    for word in words[:3]:
        if "python" in os.path.basename(word).split(" ")[0] or (" " in word and "python" in word):
            return True
        try:
            with open(word, "rb") as file:
                if b"python" in file.read(_SHEBANG).split(b"\n", 1)[0]:
                    return True
        except (OSError, ValueError):
            continue
    return False
