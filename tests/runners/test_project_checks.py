"""Checks of the project that a change alters: CI, hooks, lint, types, coverage."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agentforge.verification.source.ci_changes import check_changes

RUFF = "[tool.ruff.lint]\nselect = ['E']\n"


def _found(base: Mapping[str, str], now: Mapping[str, str], *, request: str = "Add slugify(text)") -> tuple[str, ...]:
    def read(files: Mapping[str, str]):
        return lambda path: files[path].encode() if path in files else None

    return check_changes(sorted({*base, *now}), before=read(base), after=read(now), request=request)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (".github/workflows/ci.yml", "run: pytest\n", "run: true\n"),
        (".gitlab-ci.yml", "script: pytest\n", ""),
        (
            ".github/workflows/ci.yml",
            "jobs: {a: {steps: [{run: pytest}]}}",
            "jobs: {a: {if: false, steps: [{run: pytest}]}}",
        ),
        (".github/workflows/ci.yml", "on: [push]\nrun: pytest\n", "on: [fork]\nrun: pytest\n"),
        (".pre-commit-config.yaml", "repos: [a]\n", "repos: []\n"),
        ("pyproject.toml", RUFF, "[tool.ruff.lint]\nselect = []\n"),
        ("pyproject.toml", "[tool.mypy]\nstrict = true\n", "[project]\nname = 'a'\n"),
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 1\n"),
        ("setup.cfg", "[mypy-a.*]\nstrict = true\n", "[mypy-a.*]\nignore_errors = true\n"),
        ("tox.ini", "[flake8]\nselect = E\n", "[flake8]\nignore = E\n"),
        ("package.json", '{"eslintConfig": {"rules": {}}}', '{"eslintConfig": {}}'),
        ("pkg/ruff.toml", "select = ['E']\n", "select = []\n"),
        ("pyproject.toml", RUFF, "this is no toml ["),
    ],
)
def test_a_check_of_the_base_that_says_something_else_is_found(path: str, old: str, new: str) -> None:
    assert _found({path: old}, {path: new}) == (path,)


def test_a_check_that_is_deleted_is_found() -> None:
    assert _found({"mypy.ini": "[mypy]\nstrict = true\n"}, {}) == ("mypy.ini",)


def test_a_new_file_that_steers_a_check_is_found_whether_the_base_had_one_or_not() -> None:
    assert _found({"pyproject.toml": RUFF}, {"pyproject.toml": RUFF, "pkg/ruff.toml": "select = []\n"}) == (
        "pkg/ruff.toml",
    )
    assert _found({}, {"ruff.toml": "select = ['E']\n", ".github/workflows/ci.yml": "on: push\n"}) == ("ruff.toml",)


@pytest.mark.parametrize(
    "request_", ["Let ruff select F, too", "Change pyproject.toml", "Make the lint rules stricter", "fix LINTING"]
)
def test_what_the_request_speaks_of_may_be_changed(request_: str) -> None:
    assert _found({"pyproject.toml": RUFF}, {"pyproject.toml": RUFF.replace("'E'", "'E', 'F'")}, request=request_) == ()


@pytest.mark.parametrize(
    "request_", ["Add type hints to slugify", "Let users add hooks in a typed style", "A pipeline of steps"]
)
def test_plain_words_of_a_request_ask_for_no_change_of_a_check(request_: str) -> None:
    strict = {
        "mypy.ini": "[mypy]\nstrict = true\n",
        "pyproject.toml": RUFF,
        ".pre-commit-config.yaml": "repos: [a]\n",
        ".github/workflows/ci.yml": "run: pytest\n",
    }
    assert set(_found(strict, {}, request=request_)) == set(strict)


def test_another_part_of_the_same_file_is_no_check() -> None:
    assert _found({"pyproject.toml": RUFF}, {"pyproject.toml": f"[project]\nversion = '2'\n{RUFF}"}) == ()
    assert _found({"package.json": '{"version": "1"}'}, {"package.json": '{"version": "2"}'}) == ()


WORKFLOW = "on: [push]\njobs:\n  tests:\n    strategy: {matrix: {python: ['3.6', '3.7']}}\n    steps:\n    - uses: actions/checkout@v2\n    - run: pytest\n"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (".github/workflows/ci.yml", WORKFLOW, WORKFLOW.replace("'3.6', ", "")),
        (".github/workflows/ci.yml", WORKFLOW, WORKFLOW.replace("@v2", "@v4") + "    - run: mypy\n"),
        (
            "pyproject.toml",
            f"[tool.ruff]\ntarget-version = 'py36'\n{RUFF}",
            f"[tool.ruff]\ntarget-version = 'py37'\n{RUFF}",
        ),
        ("setup.cfg", "[mypy]\npython_version = 3.6\n", "[mypy]\npython_version = 3.7\n"),
        (
            "pyproject.toml",
            f"[project]\nrequires-python = '>=3.6'\n{RUFF}",
            f"[project]\nrequires-python = '>=3.7'\n{RUFF}",
        ),
    ],
)
def test_other_versions_are_no_weaker_check(path: str, old: str, new: str) -> None:
    assert _found({path: old}, {path: new}) == ()
