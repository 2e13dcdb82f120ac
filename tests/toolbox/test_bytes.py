"""Proves that the file tools keep what they do not change: line ends, byte order mark, encoding, mode; and refuse the binary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.tools.base import Observation

Call = Callable[..., Observation]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\nTWO\r\n"),
        (b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbfone\nTWO\n"),
        (b"one\r\ntwo", b"one\r\nTWO"),
        ("caf\u00e9 two\n".encode("latin-1"), "caf\u00e9 TWO\n".encode("latin-1")),
        ("one two\n".encode("utf-16"), "one TWO\n".encode("utf-16")),
    ],
)
def test_an_edit_changes_its_own_bytes_alone(call: Call, project: Path, before: bytes, after: bytes) -> None:
    file = project / "kept.txt"
    file.write_bytes(before)
    file.chmod(0o750)
    seen = call("edit", path="kept.txt", old_string="two", new_string="TWO")
    if seen.error_type == "binary":
        assert before.startswith((b"\xff\xfe", b"\xfe\xff")) and file.read_bytes() == before
        return
    assert (seen.status, file.read_bytes(), file.stat().st_mode & 0o777) == ("success", after, 0o750)


@pytest.mark.parametrize("tool", ["read_file", "edit", "append_file", "write_file"])
def test_a_binary_file_is_refused_whole(call: Call, project: Path, tool: str) -> None:
    file = project / "picture.bin"
    file.write_bytes(b"\x89PNG\0\xff\xfe two")
    more = {
        "edit": {"old_string": "two", "new_string": "x"},
        "append_file": {"content": "x"},
        "write_file": {"content": "x"},
    }
    seen = call(tool, path="picture.bin", **more.get(tool, {}))
    assert (seen.error_type, file.read_bytes()) == ("binary", b"\x89PNG\0\xff\xfe two")
