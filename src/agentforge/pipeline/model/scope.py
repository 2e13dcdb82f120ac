"""What a stage may write, from the specification alone: one meaning for the dispatch check and for the verifier."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from agentforge.events.state.run_state import RunState
from agentforge.globs import is_wild
from agentforge.languages.test_parts import may_hold_tests, names_inner_test
from agentforge.pipeline.model.stage import Json, Stage, items, texts
from agentforge.workspace.code.relevance import is_test_path

TEST_GLOBS = (
    "test/**",
    "tests/**",
    "**/test/**",
    "**/tests/**",
    "**/__tests__/**",
    "**/spec/**",
    "**/test_*.py",
    "test_*.py",
    "**/*_test.py",
    "*_test.py",
    "**/tests.py",
    "tests.py",
    "**/conftest.py",
    "conftest.py",
    "**/*.test.[jt]s",
    "**/*.spec.[jt]s",
    "**/*.test-d.ts",
    "*.test.[jt]s",
    "**/*.test.[jt]sx",
    "**/*.spec.[jt]sx",
    "**/*.test.[cm][jt]s",
    "**/*.spec.[cm][jt]s",
    "**/*[-_]test.[jt]s",
    "**/*[-_]test.[cm]js",
    "**/test-*.[jt]s",
    "**/test-*.[cm]js",
    "**/test.[jt]s",
    "**/test.[cm]js",
    "**/*_test.go",
    "*_test.go",
    "**/*Test.java",
    "**/*Tests.java",
    "**/tests.rs",
    "**/*Test.kt",
    "**/*Tests.kt",
    "**/*.t",
    "**/*.bats",
    "**/*_spec.rb",
    "**/*_test.rb",
    "**/*Test.php",
    "**/*Test.cs",
    "**/*Tests.cs",
    "**/*Tests.swift",
)
"""Where tests live, in the languages whose runners are known."""


def product_scope(spec: Json) -> tuple[str, ...]:
    """The product files that may be written: those of the specification and the `__init__.py` of their packages."""
    named = named_files(spec)
    modules = [PurePosixPath(path) for path in named if path.endswith(".py")]
    packages = [str(path.parent / "__init__.py") for path in modules if path.parent.name]
    return tuple(dict.fromkeys([*named, *packages]))


def spelled_out(stage: Stage, state: RunState) -> tuple[str, ...]:
    """The files that a stage may write by name, even where they steer tools."""
    if stage.writes != "product":
        return ()
    own = tuple(path for path in stage.files if not is_wild(path))
    return own if stage.files else product_scope(state.work.artifacts.get("spec", {}))


def named_files(spec: Json) -> tuple[str, ...]:
    """The product files that the specification names; what is offered, so that nobody makes an `__init__.py` unasked."""
    named = [*texts(spec.get("files_to_modify")), *texts(spec.get("files_to_create"))]
    named += [str(item["file"]) for item in product_symbols(spec) if item.get("file")]
    return tuple(dict.fromkeys(path.removeprefix("./") for path in named))


def superseded_tests(spec: Json) -> tuple[str, ...]:
    """Existing tests that the specification changes or removes, because the request changes what they assert."""
    rows = [item for item in items(spec.get("symbols")) if item.get("change") in ("changed", "removed")]
    spelled = [(str(item.get("file", "")), str(item.get("name", ""))) for item in rows]
    named = dict.fromkeys(one for path, name in spelled for one in ((path, name.replace(".", "::")), (path, name)))
    return tuple(f"{path}::{name}" for path, name in named if is_test_symbol(path, name))


def vanished_names(spec: Json, told: str) -> tuple[str, ...]:
    """Last names of the product's symbols that the specification removes and of which people's own words speak.

    Args:
        told: the request and people's answers.
    """
    return tuple(name for name in gone_names(spec) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", told))


def gone_names(spec: Json) -> tuple[str, ...]:
    """Last names of the product's symbols that the specification removes."""
    gone = [str(item.get("name", "")) for item in product_symbols(spec) if item.get("change") == "removed"]
    last = (name.split("(")[0].replace("::", ".").rpartition(".")[2].strip() for name in gone)
    return tuple(dict.fromkeys(name for name in last if name))


def product_symbols(spec: Json) -> list[Json]:
    """The declared symbols that are no tests."""
    rows = items(spec.get("symbols"))
    return [one for one in rows if not is_test_symbol(str(one.get("file") or ""), str(one.get("name") or ""))]


def is_test_symbol(path: str, name: str) -> bool:
    """Whether a declared symbol is of the tests: it stands in a file of tests, or in a module of tests of a product file."""
    return bool(path) and (is_test_path(path) or names_inner_test(path, name))


def fix_scope(state: RunState) -> tuple[str, ...]:
    """What a fix may write: the violating files, and what their findings need beyond them."""
    return tuple(texts(state.work.artifacts.get("analyze", {}).get("files_to_modify")))


def suite_files(state: RunState) -> tuple[str, ...]:
    """The files of the accepted (or supplied) test suite that are tests from the first to the last line."""
    found = (path for path in _suite_paths(state) if path in state.brief.tests or not may_hold_tests(path))
    return tuple(dict.fromkeys([*state.brief.tests, *found]))


def suite_parts(state: RunState) -> tuple[str, ...]:
    """The product files in which tests of the accepted suite stand."""
    whole = suite_files(state)
    return tuple(path for path in _suite_paths(state) if path not in whole)


def _suite_paths(state: RunState) -> list[str]:
    suites = [*items(state.work.artifacts.get("red", {}).get("test_files"))]
    suites += items(state.work.artifacts.get("guard", {}).get("test_files"))
    return [path for item in suites if (path := str(item.get("path", "")))]
