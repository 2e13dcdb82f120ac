"""Proves toolbox/files/edit.py and toolbox/files/_mismatch.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext, ToolError
from agentforge.workspace.files.file_access import digest_file

Call = Callable[..., Observation]
PATH = "shapes/area.py"


def test_one_exact_piece_is_replaced_and_shown(call: Call, project: Path) -> None:
    done = call("edit", path=PATH, old_string="width * height", new_string="abs(width * height)")
    assert done.status == "success"
    assert done.summary == "edited shapes/area.py at line 6"
    assert "6     return abs(width * height)" in done.text
    assert done.changed == (PATH,)
    assert "abs(width * height)" in (project / PATH).read_text()


def test_text_that_is_not_there_is_answered_with_the_nearest_lines(call: Call, project: Path) -> None:
    before = (project / PATH).read_bytes()
    done = call("edit", path=PATH, old_string="return width * heights", new_string="return 1")
    assert done.error_type == "no-match"
    assert "6:     return width * height" in done.text
    assert (project / PATH).read_bytes() == before


def test_a_block_with_one_wrong_line_is_answered_with_the_block_that_stands_there(call: Call) -> None:
    old = '    """Width times height."""\n    return width * depth\n'
    done = call("edit", path=PATH, old_string=old, new_string="x")
    assert done.error_type == "no-match"
    assert "nearest block" in done.text and "6     return width * height" in done.text


def test_a_difference_in_white_space_is_named(call: Call) -> None:
    done = call("edit", path=PATH, old_string="def area(width:int, height:int) -> int:", new_string="x")
    assert "differ from old_string only in white space:\n4 def area(width: int" in done.text


@pytest.mark.parametrize(
    ("stands", "asked", "told"),
    [
        ("if a:\n\treturn b\n", "if a:\n    return b", "line 2, column 1: the file has U+0009 TAB, old_string has 4 times U+0020 SPACE"),
        ("x = f(a,\u00a0b)\n", "f(a, b)", "line 1, column 9: the file has U+00A0 NO-BREAK SPACE, old_string has U+0020 SPACE"),
        ("say \u201chi\u201d\n", 'say "hi"', "column 5: the file has U+201C LEFT DOUBLE QUOTATION MARK, old_string has U+0022"),
        ("1\u20132 pages\n", "1-2 pages", "column 2: the file has U+2013 EN DASH, old_string has U+002D HYPHEN-MINUS"),
        ("a = 1\r\nb = 2\nc = 3\n", "a = 1\nb = 2", "line 1, column 6: the file has U+000D CARRIAGE RETURN, old_string has nothing"),
        ("a\u200bb = 1\n", "ab = 1", "the file has 'a', U+200B ZERO WIDTH SPACE, 'b', old_string has 'ab'"),
        ("cafe\u0301 = 1\n", "caf\u00e9 = 1", "the file has 'cafe', U+0301 COMBINING ACUTE ACCENT, old_string has 'caf\u00e9' (U+00E9 LATIN SMALL"),
        ("a = 1  \nb = 2\na = 1\nb = 2\n", "a = 1 \nb = 2\n", "white space"),
        ("def f():\n  return 1\n", "    return 1\n", "line 2, column 1: the file has 2 times U+0020 SPACE, old_string has 4 times"),
        ("width = height\n", "width = heights", "line 1, column 9: the file has 'height', old_string has 'heights'"),
    ],
    ids=["tab", "no-break-space", "quotes", "dash", "CRLF", "zero-width", "accent", "trailing", "indent", "letter"],
)  # fmt: skip
def test_each_sign_that_differs_is_named_by_its_code_point(
    stands: str, asked: str, told: str, call: Call, project: Path
) -> None:
    (project / "kept.txt").write_bytes(stands.encode())
    done = call("edit", path="kept.txt", old_string=asked, new_string="x")
    assert done.error_type == "no-match"
    assert told in done.text


def test_an_edit_that_differed_in_signs_succeeds_with_the_signs_that_were_told(call: Call, project: Path) -> None:
    (project / "kept.txt").write_text("    one\u00a0\u2014\u00a0two\n\tthree\n")
    done = call("edit", path="kept.txt", old_string="one - two\n    three", new_string="x")
    for told in ("column 8: the file has U+00A0", "U+2014 EM DASH", "line 2, column 1: the file has U+0009 TAB"):
        assert told in done.text
    mended = call("edit", path="kept.txt", old_string="one\u00a0\u2014\u00a0two\n\tthree", new_string="x")
    assert (mended.status, (project / "kept.txt").read_text()) == ("success", "    x\n")


@pytest.mark.parametrize(
    ("stands", "asked", "becomes"),
    [
        ("a = 1  \n\t\nb = 2  # x\nc\n", "a = 1\n\nb = 2", "X  # x\nc\n"),
        ("a = 1\n\nb = 2\n", "a = 1\t\n  \nb = 2\n", "X"),
        ("b.c(1)  \nd\n", "c(1)\nd", "b.X\n"),
    ],
)
def test_blanks_at_the_ends_of_lines_are_taken_as_the_file_has_them(
    call: Call, project: Path, stands: str, asked: str, becomes: str
) -> None:
    (project / "ends.txt").write_text(stands)
    done = call("edit", path="ends.txt", old_string=asked, new_string="X")
    assert done.status == "success"
    assert (project / "ends.txt").read_text() == becomes


def test_a_block_from_which_a_line_was_left_out_is_answered_with_that_line(call: Call, project: Path) -> None:
    (project / "kept.py").write_text("a = 1\nb = 2\n# kept\nc = 3\nd = 4\n")
    done = call("edit", path="kept.py", old_string="a = 1\nb = 2\nc = 3\nd = 4", new_string="x")
    assert "line 3 of the file is missing from old_string" in done.text
    assert all(f"line {number} of" not in done.text for number in (1, 2, 4, 5))


def test_pasted_line_numbers_are_named(call: Call) -> None:
    done = call(
        "edit", path=PATH, old_string='5     """Width times height."""\n6     return width * height', new_string="x"
    )
    assert done.text == "old_string holds the line numbers of read_file; leave them out."


def test_text_that_stands_twice_needs_more_lines_or_replace_all(call: Call, project: Path) -> None:
    done = call("edit", path=PATH, old_string="height", new_string="depth")
    assert done.error_type == "ambiguous"
    assert "stands 3 times, at lines 4, 5, 6" in done.summary
    done = call("edit", path=PATH, old_string="height", new_string="depth", replace_all=True)
    assert done.summary == "edited shapes/area.py at line 4 and 2 more places"
    assert "height" not in (project / PATH).read_text()


def test_an_edit_that_is_already_applied_is_not_an_error(call: Call) -> None:
    arguments = {"path": PATH, "old_string": "return width * height", "new_string": "return abs(width) * abs(height)"}
    assert call("edit", **arguments).changed == (PATH,)
    again = call("edit", **arguments)
    assert (again.status, again.changed) == ("success", ())
    assert again.summary.startswith("already applied: new_string stands at line 6")


def test_an_edit_without_text_or_without_change_is_refused(call: Call) -> None:
    assert call("edit", path=PATH, old_string="", new_string="x").error_type == "bad-arguments"
    assert call("edit", path=PATH, old_string="area", new_string="area").error_type == "no-change"
    assert call("edit", path="nothing.py", old_string="a", new_string="b").error_type == "not-found"


def test_a_file_that_changed_since_it_was_read_is_not_written(call: Call, project: Path) -> None:
    seen = {PATH: digest_file(project / PATH)}
    (project / PATH).write_text("somebody else's width * height\n")
    done = call("edit", seen=seen, path=PATH, old_string="width", new_string="w")
    assert done.error_type == "changed-since-read"
    assert done.next_actions == (f"read_file {PATH}, then edit it again",)
    seen = {PATH: digest_file(project / PATH)}
    assert call("edit", seen=seen, path=PATH, old_string="width", new_string="w").status == "success"


@pytest.mark.parametrize(
    ("raw", "old", "new", "expected"),
    [
        (b"a = 1\r\nb = 2\r\n", "a = 1\nb = 2", "a = 3\nb = 4", b"a = 3\r\nb = 4\r\n"),
        (b"a = 1\r\nb = 2\r\n", "a = 1\r\nb = 2", "a = 3\r\nb = 4", b"a = 3\r\nb = 4\r\n"),
        (b"a = 1\r\nb = 2\n", "a = 1\r\nb", "a = 3\r\nb", b"a = 3\r\nb = 2\n"),
        (b"a = 1\nb = 2", "b = 2", "b = 3\r\nc = 4", b"a = 1\nb = 3\nc = 4"),
        (b"\xef\xbb\xbfa = 1\n", "a = 1", "a = 2", b"\xef\xbb\xbfa = 2\n"),
        (
            "# coding: latin-1\na = 'é'\n".encode("latin-1"),
            "a = 'é'",
            "a = 'ü'",
            "# coding: latin-1\na = 'ü'\n".encode("latin-1"),
        ),
    ],
    ids=["CRLF by LF", "CRLF by CRLF", "mixed", "LF by CRLF", "byte order mark", "Latin-1"],
)
def test_the_way_a_file_is_written_stays(
    raw: bytes, old: str, new: str, expected: bytes, call: Call, project: Path
) -> None:
    (project / "kept.py").write_bytes(raw)
    (project / "kept.py").chmod(0o755)
    assert call("edit", path="kept.py", old_string=old, new_string=new).status == "success"
    assert (project / "kept.py").read_bytes() == expected
    assert (project / "kept.py").stat().st_mode & 0o777 == 0o755


def test_a_source_that_python_cannot_load_is_pointed_out_with_the_line_that_it_lacks(call: Call, project: Path) -> None:
    (project / "kept.py").write_bytes("a = 'é'\nb = 1\n".encode("latin-1"))
    line = "# -*- coding: latin-1 -*-"
    assert line in call("read_file", path="kept.py").note
    assert line in call("edit", path="kept.py", old_string="b = 1", new_string="b = 2").text
    mended = call("edit", path="kept.py", old_string="a = 'é'", new_string=f"{line}\na = 'é'")
    assert (mended.status, mended.text.startswith("Note")) == ("success", False)
    assert call("read_file", path="kept.py").note == ""
    exec(compile((project / "kept.py").read_bytes(), "kept.py", "exec"), found := {})
    assert (found["a"], found["b"]) == ("é", 2)


def test_a_character_that_the_encoding_cannot_hold_is_named(call: Call, project: Path) -> None:
    raw = "# coding: latin-1\na = 'é'\n".encode("latin-1")
    (project / "kept.py").write_bytes(raw)
    done = call("edit", path="kept.py", old_string="é", new_string="日")
    assert done.error_type == "unencodable"
    assert (project / "kept.py").read_bytes() == raw


def test_python_that_no_longer_parses_is_pointed_out(call: Call) -> None:
    done = call("edit", path=PATH, old_string="return width * height", new_string="return (width * height")
    assert done.status == "success"
    assert done.text.startswith("Note: shapes/area.py does not parse as Python now: line 6: '(' was never closed")
    mended = call("edit", path=PATH, old_string="return (width", new_string="return (0) + (width")
    assert "does not parse" not in mended.text


def test_a_frozen_file_is_denied_at_dispatch_through_a_link_too(call: Call, project: Path) -> None:
    (project / "frozen.py").write_text("a = 1\n")
    (project / "alias.py").symlink_to("frozen.py")
    for path in ("frozen.py", "alias.py"):
        done = call("edit", path=path, old_string="a = 1", new_string="a = 2")
        assert (done.status, done.error_type) == ("denied", "out-of-scope")
    assert (project / "frozen.py").read_text() == "a = 1\n"


def test_a_text_that_the_stage_may_not_give_to_a_file_is_not_written(context: ToolContext, project: Path) -> None:
    mine = replace(context, may_hold=lambda path, text: f"{path} stays" if "abs" in text else None)
    before = (project / PATH).read_bytes()
    for tool, arguments in (
        ("edit", {"old_string": "width * height", "new_string": "abs(width * height)"}),
        ("write_file", {"content": "abs()\n"}),
        ("append_file", {"content": "abs()\n"}),
    ):
        with pytest.raises(ToolError) as refused:
            find([tool])[tool].run({"path": PATH, **arguments}, mine)
        assert refused.value.observation.error_type == "out-of-scope"
    assert (project / PATH).read_bytes() == before
