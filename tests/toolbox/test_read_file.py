"""Proves toolbox/files/read_file.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.tokens import count_tokens
from agentforge.tools.base import Observation

Call = Callable[..., Observation]


def test_lines_are_numbered_and_the_view_is_told(call: Call) -> None:
    seen = call("read_file", path="shapes/area.py", offset=4, limit=2)
    assert seen.text == '4 def area(width: int, height: int) -> int:\n5     """Width times height."""'
    assert seen.summary == "shapes/area.py lines 4-5 of 6"
    assert seen.view == {"path": "shapes/area.py", "offset": 4, "limit": 2}
    assert seen.next_actions == ("read_file shapes/area.py offset=6 for the rest",)
    assert seen.artifacts == ("shapes/area.py",)


def test_a_whole_small_file_needs_no_next_action(call: Call) -> None:
    seen = call("read_file", path="./shapes/../README.md")
    assert seen.text == "1 # Shapes\n\n3 Areas of shapes."
    assert seen.next_actions == ()


def test_numbers_cost_little_and_tell_where_every_line_stands(call: Call, project: Path) -> None:
    lines = [
        line for number in range(60) for line in (f"def part_{number}(value):", f"    return {number}", "", "", "")
    ]
    lines[7] = "  "  # white space is shown as it is
    (project / "parts.py").write_text("\n".join(lines) + "\n")
    seen = call("read_file", path="parts.py")
    shown = seen.text.split("\n")
    assert [line for line in shown if line] == [f"{at} {line}" for at, line in enumerate(lines, start=1) if line]
    assert len(shown) == len(lines)
    assert count_tokens(seen.text) < 1.3 * count_tokens("\n".join(lines))


def test_an_empty_file_says_so(call: Call, project: Path) -> None:
    (project / "empty.txt").write_bytes(b"")
    assert call("read_file", path="empty.txt").summary == "empty.txt is empty"


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("src/area.py", "not-found", "Nearest names: shapes/area.py"),
        ("shapes/areas.py", "not-found", "Nearest names: shapes/area.py"),
        ("zzz", "not-found", "No file has a similar name"),
        ("shapes", "is-a-folder", ""),
        ("../outside.txt", "outside-workspace", ""),
        ("/etc/passwd", "outside-workspace", ""),
        (".git/config", "outside-workspace", ""),
    ],
)
def test_what_cannot_be_read_is_answered_with_what_could_be(path: str, error: str, words: str, call: Call) -> None:
    seen = call("read_file", path=path)
    assert (seen.status, seen.error_type) == ("error", error)
    assert words in seen.text
    assert seen.next_actions


def test_an_offset_beyond_the_end_tells_the_number_of_lines(call: Call) -> None:
    assert (
        call("read_file", path="README.md", offset=9).summary == "README.md has 3 lines, offset 9 lies beyond its end"
    )


def test_binary_and_huge_files_are_refused_with_their_size(call: Call, project: Path) -> None:
    (project / "logo.png").write_bytes(b"\x89PNG\0\0")
    assert call("read_file", path="logo.png").summary == "logo.png is binary (6 bytes)"
    with (project / "huge.log").open("wb") as file:
        file.truncate(50_000_000)
    assert call("read_file", path="huge.log").summary == "huge.log is too large to read (50,000,000 bytes)"


def test_a_very_long_line_is_cut(call: Call, project: Path) -> None:
    (project / "min.js").write_text("x" * 5000 + "\n")
    assert call("read_file", path="min.js").text.endswith("... 4000 more characters")


def test_a_form_feed_does_not_move_line_numbers(call: Call, project: Path) -> None:
    (project / "old.py").write_text("a = 1\n\x0c\nb = 2\n")
    assert call("read_file", path="old.py", offset=3).text == "3 b = 2"
