"""Lint and format of the whole repository; types are checked by `make check`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("arguments", [("check",), ("format", "--check")], ids=["lint", "format"])
def test_ruff_is_content(root: Path, arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "--output-format=concise", "--no-cache", "src", "tests", "scripts"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_documentation_keeps_to_the_vocabulary(root: Path) -> None:
    words = ["-D", "-", "-D", "docs/vocabulary.txt"]
    done = subprocess.run([sys.executable, "-m", "codespell_lib", *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
