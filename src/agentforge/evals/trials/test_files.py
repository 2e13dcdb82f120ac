"""Which files of a repository hold tests that a runner is told to run, by its own configuration of file names."""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from agentforge.languages.catalogue import has_tests
from agentforge.verification.source.test_hashes import test_functions, test_hashes
from agentforge.workspace.code.relevance import is_test_path

Read = Callable[[str], str | None]
"""Gives the text of a repository's file by its path; None where there is none."""

BY_DEFAULT = ("test_*.py", "*_test.py")
_OF_UNITTEST = ("test*.py",)
_WHEN_NAMED = ("tests.py", "test.py")
_BESIDE_TESTS = ("conftest.py", "__init__.py")
_INI = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_TOML = ("pytest.toml", ".pytest.toml", "pyproject.toml")


def python_patterns(read: Read, *, runner: str = "pytest") -> tuple[str, ...]:
    """The patterns of the names of Python's test files: those of pytest's configuration, else those of the runner."""
    if runner == "unittest":
        return _OF_UNITTEST
    return next((found for found in _configured(read) if found), BY_DEFAULT)


def holds_tests(path: str, text: str, patterns: Sequence[str] = BY_DEFAULT) -> bool:
    """Whether a file is one that a runner is told to run: a test file of Python by its name, of other languages by its tests.

    A file `tests.py` or `test.py` is run when it is named, whatever the patterns; some of them hold no test. A pattern like
    `*.py`, which is there for doctests, takes every module: one that is no test by its name or place has to define tests.
    """
    if not path.endswith(".py"):
        return is_test_path(path) and has_tests(path, text.encode())
    name = PurePosixPath(path).name
    if name in _WHEN_NAMED and any(test_hashes(path, text.encode())):
        return True
    if not is_test_file(path, patterns) or is_test_file(path):
        return is_test_file(path, patterns)
    return defines_tests(text) or (is_test_path(path) and name not in _BESIDE_TESTS)


def defines_tests(text: str) -> bool:
    """Whether a module of Python has test functions, or classes with some that are collected by their name or for a base."""
    found = test_functions(text.encode("utf-8", "replace"))
    return any(not owners or owners[0].name.startswith("Test") or owners[0].bases for _, _, owners in found)


def is_test_file(path: str, patterns: Sequence[str] = BY_DEFAULT) -> bool:
    """Whether the runner collects a Python file by its name; as pytest has it, a pattern with a slash is for whole paths."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and any(
        fnmatchcase(f"/{path}", f"*/{pattern}") if "/" in pattern else fnmatchcase(name, pattern)
        for pattern in patterns
    )


def _configured(read: Read) -> Iterator[tuple[str, ...]]:
    for name in _TOML:
        try:
            table: Any = tomllib.loads(read(name) or "")
        except tomllib.TOMLDecodeError:
            continue
        pytest = table.get("tool", {}).get("pytest", {}) if name == "pyproject.toml" else table.get("pytest", table)
        if isinstance(pytest, dict):
            yield _listed(pytest.get("ini_options", pytest).get("python_files", ()))
    for name, section in _INI:
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        try:
            parser.read_string(read(name) or "")
        except configparser.Error:
            continue
        yield _listed(parser.get(section, "python_files", fallback=""))


def _listed(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(map(str, value)) if isinstance(value, list) else ()
