"""What a child reads from its standard input arrives whole, however much it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentforge.workspace.processes import process

_COUNT = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024, 1024 * 1024 + 1])
def test_all_of_the_input_arrives(size: int, tmp_path: Path) -> None:
    import hashlib

    data = b"x" * size
    done = process.run([sys.executable, "-c", _COUNT], cwd=tmp_path, env={}, timeout_s=30, stdin=data)
    assert done.text.strip() == hashlib.sha256(data).hexdigest()
