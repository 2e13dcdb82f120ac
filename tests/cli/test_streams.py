"""What a command's output goes to may be full, closed or left by its reader: the exit code stays the truth."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.cli.startup.streams import reader_left

_FULL = Path("/dev/full")
_WRONG = ("stages", "--cwd", "nowhere", "--json")


def _ended(arguments: tuple[str, ...], *, stdout: int, before: str = "") -> tuple[int, str]:
    program = f"import os, sys\n{before}\nfrom agentforge.__main__ import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(("arguments", "code"), [(("contracts", "list"), 0), (_WRONG, 2)])
def test_a_reader_that_left_changes_no_exit_code(arguments: tuple[str, ...], code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended, told = _ended(arguments, stdout=writing)
    finally:
        os.close(writing)
    assert ended == code, told
    assert "Broken pipe" not in told


@pytest.mark.skipif(not _FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(("arguments", "code"), [(("--version",), 7), (("contracts", "list"), 7), (_WRONG, 2)])
def test_an_output_that_is_full_is_one_line_and_no_success(arguments: tuple[str, ...], code: int) -> None:
    with _FULL.open("wb") as full:
        ended, told = _ended(arguments, stdout=full.fileno())
    assert ended == code
    assert told.endswith(
        "error[storage]: the output cannot be written: No space left on device - write it where there is room\n"
    )
    assert "Traceback" not in told


@pytest.mark.parametrize("arguments", [("--version",), ("stages",)])
def test_closed_streams_are_as_good_as_the_null_device(arguments: tuple[str, ...]) -> None:
    closed = "os.close(0); os.close(1); sys.stdin = sys.stdout = None"
    assert _ended(arguments, stdout=subprocess.DEVNULL, before=closed) == (0, "")


def test_where_streams_are_somebody_elses_nothing_is_known_of_a_reader() -> None:
    assert not reader_left()
