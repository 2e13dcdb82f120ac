"""Proves toolbox/files/append_file.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.tools.base import Observation

Call = Callable[..., Observation]


@pytest.mark.parametrize(
    ("before", "options", "after"),
    [
        (b"a\n", {}, b"a\nb\n"),
        (b"a", {}, b"a\nb\n"),
        (b"a", {"ensure_newline_before": False}, b"ab\n"),
        (b"a\n", {"ensure_trailing_newline": False}, b"a\nb"),
        (b"a\r\n", {}, b"a\r\nb\r\n"),
        (b"", {}, b"b\n"),
    ],
)
def test_text_is_put_at_the_end(
    before: bytes, options: dict[str, bool], after: bytes, call: Call, project: Path
) -> None:
    (project / "log.txt").write_bytes(before)
    assert call("append_file", path="log.txt", content="b", **options).changed == ("log.txt",)
    assert (project / "log.txt").read_bytes() == after


def test_a_missing_file_is_created_unless_that_is_not_wanted(call: Call, project: Path) -> None:
    assert call("append_file", path="new/log.txt", content="b\n", create_if_missing=False).error_type == "not-found"
    assert call("append_file", path="new/log.txt", content="b\n").summary == "appended 1 lines to new/log.txt"
    assert (project / "new/log.txt").read_bytes() == b"b\n"
