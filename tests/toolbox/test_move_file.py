"""Proves toolbox/files/move_file.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.tools.base import Observation

Call = Callable[..., Observation]


@pytest.mark.parametrize("data", [b"a\r\nb", b"\x00\xff\x01", b""])
def test_a_file_has_another_path_and_the_same_bytes_and_rights(data: bytes, call: Call, project: Path) -> None:
    (project / "old.sh").write_bytes(data)
    (project / "old.sh").chmod(0o755)
    told = call("move_file", path="old.sh", to="bin/new.sh")
    assert (told.status, told.changed, told.artifacts) == ("success", ("old.sh", "bin/new.sh"), ("bin/new.sh",))
    assert not (project / "old.sh").exists()
    assert (project / "bin/new.sh").read_bytes() == data
    assert (project / "bin/new.sh").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("path", "to", "error"),
    [
        ("gone.py", "b.py", "not-found"),
        ("kept.py", "there.py", "exists"),
        ("kept.py", "folder", "exists"),
        ("folder", "other", "no-regular-file"),
        ("kept.py", "../outside.py", "out-of-scope"),
        ("../outside.py", "b.py", "out-of-scope"),
    ],
)
def test_what_cannot_be_moved_is_said_and_stays(path: str, to: str, error: str, call: Call, project: Path) -> None:
    for name in ("kept.py", "there.py"):
        (project / name).write_text(f"{name} = 1\n")
    (project / "folder").mkdir()
    assert call("move_file", path=path, to=to).error_type == error
    assert (project / "kept.py").read_text() == "kept.py = 1\n"
    assert (project / "there.py").read_text() == "there.py = 1\n"
