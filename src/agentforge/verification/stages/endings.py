"""Tests that end without being told of: a name is gone that the request asks to remove, or their process ended early."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

from agentforge.languages.catalogue import named_tests
from agentforge.languages.python.source import module_of
from agentforge.languages.symbols import Symbol, modules
from agentforge.testing.outcome import Failure, SuiteRun, file_of, means, name_of, test_and_row
from agentforge.testing.report_stream import SIGNALLED
from agentforge.verification.source.test_hashes import test_functions
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read

_ABSENCE = ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError")
_WORD = re.compile(r"\w{2,}")
_LISTED = 50
NO_RESULT = "has no result: the process that ran the tests ended early"


def tests_using(paths: Iterable[str], names: Collection[str], *, read: Read) -> tuple[str, ...]:
    """List the tests (`path::name`) whose text speaks of one of the names.

    Args:
        names: last names of symbols.
    """
    wanted = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)") if names else None
    if wanted is None:
        return ()
    found = []
    for path in paths:
        data = read(path) or b""
        found += [f"{path}::{name}" for name, text in _texts(path, data) if wanted.search(text)]
    return tuple(found)


def imports_of_gone(paths: Iterable[str], gone: Collection[Symbol], *, read: Read) -> tuple[tuple[str, str], ...]:
    """List (path, name) of Python files that import a symbol when they are loaded: without it they cannot be loaded."""
    homes = {(home, symbol.name) for symbol in gone for home in modules(symbol.file)}
    found: dict[tuple[str, str], None] = {}
    for path in paths:
        for node in module_of(read(path)).body if path.endswith(".py") else ():
            if isinstance(node, ast.ImportFrom) and not node.level:
                found |= {(path, one.name): None for one in node.names if (node.module or "", one.name) in homes}
    return tuple(found)


def without_imports(data: bytes, names: Collection[str]) -> bytes:
    """The text of a Python file without the imports of some names, so that the tests which need none of them can run."""
    tree = module_of(data)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for one in body:
            if isinstance(one, ast.ImportFrom):
                one.names = [alias for alias in one.names if alias.name not in names]
        node.body = [one for one in body if not (isinstance(one, ast.ImportFrom) and not one.names)] or [ast.Pass()]  # type: ignore[attr-defined]  # it has a body
    return ast.unparse(ast.fix_missing_locations(tree)).encode("utf-8", "surrogateescape")


def ended_in(run: SuiteRun, ids: Collection[str], names: Collection[str]) -> frozenset[str]:
    """The tests that a run shows to fail for want of one of the names, each on its own."""
    return frozenset(one for one in ids if one in run.outcomes and lacks(run.outcomes[one].failure, names))


def doctests_of(ids: Collection[str], names: Collection[str]) -> frozenset[str]:
    """The doctests of product modules that stand in a definition of one of the names, and go with it."""
    found = set()
    for one in ids:
        path, _, dotted = one.partition("::")
        place, parts = PurePosixPath(path).with_suffix(""), dotted.split(".")
        module = list(place.parent.parts if place.name == "__init__" else place.parts)
        told = max((size for size in range(1, len(module) + 1) if parts[:size] == module[-size:]), default=0)
        if told and not is_test_path(path) and set(parts[told:]) & set(names):
            found.add(one)
    return frozenset(found)


def lacks(failure: Failure | None, names: Collection[str]) -> bool:
    """Whether a failure is the absence of one of the names."""
    if failure is None or failure.exc_type not in _ABSENCE:
        return False
    return bool({one.rpartition(".")[2] for one in failure.names} & set(names))


def _texts(path: str, data: bytes) -> Iterable[tuple[str, str]]:
    if not path.endswith(".py"):
        return named_tests(path, data)
    return ((name, ast.unparse(node)) for name, node, _ in test_functions(data))


def early_end(runs: Sequence[SuiteRun], named: Iterable[str], *, at: Literal["base", "change"]) -> dict[str, Any]:
    """Make the fact of the first run that ended early.

    Args:
        runs: the first is the one in which every test was to run.
        named: ids (`path::name`) of which other facts say that they have no result.
        at: the tree on which the tests ran.
    Returns:
        {ended_early: {at, exit_code, signal, signal_name, running, after, said, lost}}: `signal` is 0 where none ended it,
        `after` the last test with a result, `lost` those of `named` that were to run; {} where every run came to its end.
    """
    run = next((one for one in runs if one.early_end is not None), None)
    if run is None or run.early_end is None:
        return {}
    end = run.early_end
    number = max(0, end.exit_code - SIGNALLED)
    name = signal.Signals(number).name if number in set(signal.Signals) else ""
    told = {
        "at": at, "exit_code": end.exit_code, "signal": number, "signal_name": name, "running": end.running,
        "after": ["", *run.outcomes][-1], "said": end.said, "lost": _lost(named, runs[0]),
    }  # fmt: skip
    return {"ended_early": told}


def _lost(named: Iterable[str], run: SuiteRun) -> list[str]:
    """The ids that were to run and have no result; any of them where the runner did not list its tests before it began."""
    ids = [one for one in named if one not in run.outcomes]
    waiting: dict[str, list[str]] = {}
    for nodeid in run.collected:
        if nodeid not in run.outcomes:
            waiting.setdefault(file_of(nodeid), []).append(nodeid)
    if not waiting:
        return ids if run.early_end is not None else []
    return [
        one
        for one in ids
        if any(means(nodeid, path=file_of(one), name=name_of(one)) for nodeid in waiting.get(file_of(one), ()))
    ]


def thinned(
    ended: Sequence[str], now: SuiteRun, *, superseded: Sequence[str], told: str, before: Mapping[str, Any]
) -> list[str]:
    """Cases of tests that the specification changes which are gone and have no successor: what fails in them is seen no more.

    A case counts as followed by a new one of its test; one of which people's own words speak may go.

    Args:
        before: evidence of the base line: `passed_ids` is read.
    """
    words = set(_WORD.findall(told))
    known = set(before.get("passed_ids", ()))
    gone: dict[str, list[str]] = {}
    for one in ended:
        bare, case = test_and_row(one)
        if bare in superseded and case and not words & set(_WORD.findall(case)):
            gone.setdefault(bare, []).append(one)
    found: list[str] = []
    for bare, ones in gone.items():
        there = [one for one in now.passed_ids if one.startswith(f"{bare}[") or one == bare]
        fresh = [one for one in there if one not in known]
        found += ones[len(fresh) :] if there else []
    return found[:_LISTED]
