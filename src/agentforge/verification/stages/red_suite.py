"""What RED's artifact and the specification say of a suite, and which files and tests are its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from agentforge.testing.outcome import means
from agentforge.workspace.code.relevance import is_test_path

GUARDING = ("refactor", "delete", "analyze")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What RED's artifact and the specification say.

    Attributes:
        tests: {path, name, kind} of each declared test; `name` is the function, `Class::function` or the whole id.
        symbols: the specification's declared symbols.
        modified: product files that the specification will change or create.
        action: create, modify, delete, refactor, fix or analyze.
        support: further paths that RED may write (data files, conftest.py).
        superseded: existing tests (`path::name`) that the specification lists as changed or removed.
        vanished: last names of symbols that the request asks to remove or rename; tests that use them may be changed or go.
        extended: existing parametrised tests that only got more rows; measured.
        told: the words of people.
        inspected: every requirement is verified by inspection, so that there need not be a target.
    """

    tests: Sequence[Mapping[str, Any]]
    symbols: Sequence[Mapping[str, Any]] = ()
    modified: Sequence[str] = ()
    action: str = "create"
    support: Sequence[str] = ()
    superseded: Sequence[str] = ()
    vanished: Sequence[str] = ()
    extended: frozenset[str] = frozenset()
    told: str = ""
    inspected: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The declared test files, each once."""
        return tuple(dict.fromkeys(str(test["path"]) for test in self.tests))


def declared(nodeid: str, suite: Suite) -> Mapping[str, Any] | None:
    """The declared test that an id belongs to: the one that names its very row, else the one of its function."""
    row = names_row(nodeid, suite)
    if row is not None:
        return row
    return next((one for one in suite.tests if means(nodeid, path=str(one["path"]), name=str(one["name"]))), None)


def names_row(nodeid: str, suite: Suite) -> Mapping[str, Any] | None:
    """The declared test that names this very row of a parametrised test."""
    named = (test for test in suite.tests if "[" in str(test["name"]))
    return next((one for one in named if nodeid in (str(one["name"]), f"{one['path']}::{one['name']}")), None)


def kind_of(nodeid: str, suite: Suite) -> str:
    """Give the declared kind of the test that an id belongs to, "" where none is declared."""
    test = declared(nodeid, suite)
    return str(test.get("kind") or "") if test is not None else ""


def is_tests_own(path: str, suite: Suite) -> bool:
    """A declared test file or support file, one whose tests the specification changes, a test file beside it, a conftest.py
    above it, or data in its folder of tests."""
    if path in suite.files or path in suite.support or any(one.startswith(f"{path}::") for one in suite.superseded):
        return True
    for file in suite.files:
        folder = PurePosixPath(file).parent
        if PurePosixPath(path).parent == folder and is_test_path(path) and is_test_path(file):
            return True
        if PurePosixPath(path).name in ("conftest.py", "__init__.py") and PurePosixPath(path).parent in (
            folder, *[one for one in folder.parents if one.name]
        ):  # fmt: skip
            return True
        if folder.name and _is_tests_folder(folder) and PurePosixPath(path).is_relative_to(folder):
            return True
    return False


def _is_tests_folder(folder: PurePosixPath) -> bool:
    return any(part in ("test", "tests", "testing", "__tests__", "spec") for part in folder.parts)
