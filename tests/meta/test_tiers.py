"""The table of tiers is true, the fast tier holds a way of every kind, and a test that hangs or lacks a toolchain says so."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.evals.case import Case, FileTree
from tests.support.tiers import Tiers, read_tiers
from tests.support.toolchains import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAYS = {
    "a run that is delivered", "a run that asks a human", "a conversation", "JavaScript", "TypeScript", "Go", "Rust", "Java",
    "the dashboard", "our MCP server", "the fleet on SQLite", "a cheat that is refused", "honest work that is delivered",
    "an attack", "an injection", "a kill that loses nothing",
}  # fmt: skip
_HANGS = "import threading\n\n\ndef test_waits_for_nobody():\n    threading.Event().wait()\n\n\ndef test_other():\n    pass\n"


@pytest.fixture(scope="module")
def tiers() -> Tiers:
    return read_tiers()


def test_every_row_of_the_table_names_something_that_is_there(root: Path, tiers: Tiers) -> None:
    named = {*tiers.rows, *tiers.ways.values()}
    assert [place for place in sorted(named) if not _is_there(root, place)] == []


def test_a_test_that_no_row_names_is_in_the_full_tier_and_the_longest_row_decides() -> None:
    tiers = Tiers(rows={"tests/a": "fast", "tests/a/test_b.py": "full", "tests/a/test_b.py::test_c": "fast"}, ways={})
    assert tiers.of("tests/new/test_b.py::test_c") == "full"
    assert tiers.of("tests/a/deep/test_x.py::test_c[1]") == "fast"
    assert tiers.of("tests/a/test_b.py::test_d") == "full"
    assert tiers.of("tests/a/test_b.py::test_c[p/q::r]") == "fast"


def test_a_file_of_which_one_test_is_in_another_tier_is_read_for_both() -> None:
    rows = {"tests/a": "fast", "tests/a/test_b.py::test_c": "full", "tests/a/test_b.py::test_d": "fast"}
    tiers = Tiers(rows=rows, ways={})
    assert not tiers.is_all_of("fast", "tests/a/test_b.py")
    assert not tiers.is_all_of("full", "tests/a/test_b.py")
    assert tiers.is_all_of("fast", "tests/a/test_x.py")
    assert tiers.is_all_of("full", "tests/new/test_x.py")


def test_no_row_stands_in_both_tiers(tmp_path: Path) -> None:
    path = tmp_path / "tiers.toml"
    path.write_text('fast = ["tests/a"]\nfull = ["tests/a"]\n[ways]\n')
    with pytest.raises(ValueError, match="tests/a in both tiers"):
        read_tiers(path)


def test_the_fast_tier_holds_one_way_through_the_program_of_every_kind(tiers: Tiers) -> None:
    assert set(tiers.ways) == _WAYS
    assert {way: tiers.of(place) for way, place in tiers.ways.items()} == dict.fromkeys(_WAYS, "fast")


def test_tiers_are_set_by_the_table_alone(root: Path) -> None:
    """No test names its tier itself: two places that say it would soon say two things."""
    own = "pytest" + ".mark."
    found = [
        path.relative_to(root).as_posix()
        for path in (root / "tests").rglob("*.py")
        if any(f"{own}{tier}" in path.read_text(encoding="utf-8") for tier in ("fast", "full"))
    ]
    assert found == []


def test_a_test_that_hangs_fails_after_its_time_and_says_where(root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_hangs.py").write_text(_HANGS)
    command = [sys.executable, "-m", "pytest", "-c", str(root / "pyproject.toml"), "--rootdir", str(tmp_path)]
    command += ["-p", "no:cacheprovider", "-n", "1", "-o", "faulthandler_timeout=5", str(tmp_path / "test_hangs.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "test_hangs.py::test_waits_for_nobody" in done.stdout
    assert 'test_hangs.py", line 5 in test_waits_for_nobody' in done.stderr


@pytest.mark.parametrize("text", ["#!/bin/sh\necho 'no toolchain is chosen' >&2\nexit 1\n", "no program at all\n"])
def test_a_program_that_is_there_and_does_not_work_is_missing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "agentforge-cargo"
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert missing(program.name).startswith("agentforge-cargo does not ")
    case = Case(name="a", title="a", base=FileTree(), files=FileTree(), request="a", needs=program.name)
    assert case.missing.startswith("agentforge-cargo ")


def test_no_test_takes_a_name_on_the_path_for_a_program_that_works(root: Path) -> None:
    asked = "which(" + "program) is None", 'which("'
    skips = [
        path.relative_to(root).as_posix()
        for path in (root / "tests").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "skipif" in line and any(one in line for one in asked)
    ]
    assert skips == []


def _is_there(root: Path, place: str) -> bool:
    path, _, name = place.partition("::")
    if not (root / path).exists():
        return False
    return not name or name.partition("[")[0] in _tests(root / path)


def _tests(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield node.name
            yield from (f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef))
