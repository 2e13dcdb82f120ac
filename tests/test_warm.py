"""A command from a warm process cannot be told from one that an interpreter was started for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import warm


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AGENTFORGE_HOME": str(tmp_path / "af"),
        "LANG": "C.UTF-8",
    }


def _warm(*arguments: str, folder: Path, env: dict[str, str], stdin: bytes = b"", timeout_s: float = 60.0) -> object:
    done = warm.run(arguments, cwd=folder, env=env, stdin=stdin, timeout_s=timeout_s)
    return done.returncode, done.stdout, done.stderr


def _cold(*arguments: str, folder: Path, env: dict[str, str], stdin: bytes = b"") -> object:
    command = [sys.executable, "-m", "agentforge", *arguments]
    done = subprocess.run(command, cwd=folder, env=env, input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("no-such-command",), ("config", "path"), ("run", "--model", "scripted//nowhere"), ("stages",)],
)
def test_it_ends_and_writes_as_a_process_of_its_own_does(
    arguments: tuple[str, ...], tmp_path: Path, env: dict[str, str]
) -> None:
    for _ in range(2):  # the second is warm
        assert _warm(*arguments, folder=tmp_path, env=env, stdin="grüß\n".encode()) == _cold(
            *arguments, folder=tmp_path, env=env, stdin="grüß\n".encode()
        )


def test_a_command_has_its_own_folder_and_environment_and_leaves_nothing_to_the_next(
    tmp_path: Path, env: dict[str, str]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        told = {**env, "AGENTFORGE_HOME": str(folder / "af")}
        code, out, _ = _warm("config", "path", folder=folder, env=told)  # type: ignore[misc]
        assert code == 0 and str(folder / "af").encode() in out
    assert str(one).encode() not in out


def test_what_an_interpreter_reads_at_its_start_gets_an_interpreter(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.stderr.write('customised\\n')\n")
    told = {**env, "PYTHONPATH": str(tmp_path / "site")}
    code, _, err = _warm("--version", folder=tmp_path, env=told)  # type: ignore[misc]
    assert (code, err) == (0, b"customised\n")


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path, env: dict[str, str]) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        _warm("doctor", folder=tmp_path, env=env, timeout_s=0.001)
