"""Which programs work on this machine: each is tried once, for a name on PATH may be a shell without a core."""

from __future__ import annotations

import subprocess
from functools import cache

import pytest

_TRIALS = {
    "bwrap": ("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true"),  # it may be there and not be allowed to
    "go": ("go", "version"),
    "javac": ("javac", "-version"),
    "ruby": ("ruby", "-e", 'require "minitest"'),  # without minitest it runs no test
    "openssl": ("openssl", "version"),
    "tmux": ("tmux", "-V"),
}
_PATIENCE_S = 60


@cache
def missing(program: str) -> str:
    """Say why a program cannot be used, "" when it can: it must run, and tell its version or what `_TRIALS` has it do.

    `cargo` may be rustup's stand-in without a toolchain behind it, `javac` Apple's without a compiler: both are on PATH.
    """
    trial = _TRIALS.get(program, (program, "--version"))
    try:
        done = subprocess.run(trial, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except FileNotFoundError:
        return f"{program} is not installed"
    except (OSError, subprocess.TimeoutExpired) as exc:
        return f"{program} does not run: {exc}"
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).strip().splitlines()
    return f"{program} does not work: {said[0] if said else f'exit {done.returncode}'}"


def need(program: str) -> None:
    """Skip the test that asks when a program does not work here."""
    reason = missing(program)
    if reason:
        pytest.skip(reason)


def skip_without(item: pytest.Item) -> None:
    """Skip a test that is marked `needs(PROGRAM, ...)` when one of them does not work here."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            need(program)
