"""Proves safety/scope.py."""

from __future__ import annotations

import pytest

from agentforge.safety.policy.scope import WriteScope

SCOPE = WriteScope(
    allow=("src/**", "/pyproject.toml", ".github/workflows/ci.yml"), deny=("src/frozen.py", "**/test_*.py")
)


@pytest.mark.parametrize("path", ["src/a.py", "src/deep/b.py", "pyproject.toml", ".github/workflows/ci.yml"])
def test_what_is_allowed_may_be_written(path: str) -> None:
    assert SCOPE.refusal(path) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("README.md", "outside what this stage may write: src/**"),
        ("sub/pyproject.toml", "outside what this stage may write"),
        ("src/frozen.py", "closed to this stage (src/frozen.py)"),
        ("src/a/test_b.py", "closed to this stage (**/test_*.py)"),
        ("src/.git/hooks/pre-commit", "lies in .git, which nobody writes"),
        ("src/.GIT/config", "lies in .git"),
        ("src/.agentforge/config.toml", "lies in .agentforge"),
        ("src/.envrc", "steers tools of the project (.envrc)"),
        ("src/.vscode/tasks.json", "steers tools"),
        (".github/workflows/other.yml", "outside"),
        ("/etc/passwd", "not a path inside the workspace"),
        ("src/../../x", "not a path inside the workspace"),
        ("", "not a path inside the workspace"),
        ("src/a\0b", "not a path inside the workspace"),
    ],
)
def test_everything_else_is_refused_with_its_reason(path: str, reason: str) -> None:
    assert reason in (SCOPE.refusal(path) or "allowed")


def test_a_folder_that_may_be_written_does_not_open_the_files_that_steer_tools() -> None:
    assert WriteScope(allow=("src",)).refusal("src/.npmrc") is not None
    assert WriteScope(allow=("src/.npmrc",)).refusal("src/.npmrc") is None


def test_nothing_may_be_written_by_default() -> None:
    assert "may write: nothing" in (WriteScope().refusal("a.py") or "")


def test_a_closed_path_says_what_to_do_instead() -> None:
    scope = WriteScope(allow=("test_*.py",), deny=("test_a.py",), instead="write a new file")
    assert scope.refusal("test_a.py") == "test_a.py is closed to this stage (test_a.py); write a new file"
    assert scope.refusal("test_b.py") is None


def test_a_frozen_file_with_brackets_in_its_name_is_denied() -> None:
    assert WriteScope(allow=("**",), deny=("pages/[id].test.ts",)).refusal("pages/[id].test.ts") is not None
