"""Proves the tools that only look: list_dir, glob, grep, outline, find_symbol, git_diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolError
from agentforge.tools.dispatch.arguments import check_arguments

Call = Callable[..., Observation]


def test_list_dir_names_folders_first_and_sizes(call: Call, project: Path) -> None:
    (project / "link").symlink_to("README.md")
    assert call("list_dir").text.splitlines() == [
        "build/",
        "shapes/",
        "tests/",
        "README.md (27 bytes)",
        "link -> README.md",
    ]
    assert ".gitignore (7 bytes)" in call("list_dir", include_hidden=True).text
    assert ".git/" not in call("list_dir", include_hidden=True).text.splitlines()
    assert call("list_dir", path="README.md").error_type == "is-a-file"


def test_list_dir_says_when_it_does_not_show_everything(call: Call, project: Path) -> None:
    (project / "many").mkdir()
    for number in range(201):
        (project / "many" / f"{number:03}").touch()
    done = call("list_dir", path="many")
    assert done.summary == "many: 201 entries; the first 200 are shown"
    assert len(done.text.splitlines()) == 200


def test_glob_is_sorted_and_leaves_ignored_files_out(call: Call) -> None:
    assert call("glob", pattern="**/*area*.py").text.splitlines() == ["shapes/area.py", "tests/test_area.py"]
    assert call("glob", pattern="*.py", path="shapes").text.splitlines() == ["shapes/__init__.py", "shapes/area.py"]
    assert call("glob", pattern="*.rs").next_actions
    assert call("glob", limits={"glob": 1}, pattern="*.py").summary == "3 files match *.py; the first 1 are shown"


def test_grep_groups_lines_by_file(call: Call) -> None:
    done = call("grep", pattern=r"def \w*area")
    assert (
        done.text
        == "shapes/area.py:\n4: def area(width: int, height: int) -> int:\ntests/test_area.py:\n4: def test_area() -> None:"
    )
    assert done.summary == r"2 hits in 2 files for def \w*area"
    assert done.artifacts == ("shapes/area.py", "tests/test_area.py")


def test_grep_shows_context_and_ignores_case_when_asked(call: Call) -> None:
    done = call("grep", pattern="AREAS OF", path="README.md", case_insensitive=True, context=1)
    assert done.text == "README.md:\n2- \n3: Areas of shapes."


def test_grep_shows_as_much_context_as_it_is_asked_for(call: Call, project: Path) -> None:
    (project / "long.txt").write_text("".join(f"row {number}\n" for number in range(1, 400)))
    done = call("grep", pattern="row 200$", path="long.txt", context=75)
    assert done.text.splitlines()[1::150] == ["125- row 125", "275- row 275"]


@pytest.mark.parametrize(
    ("tool", "argument", "most"), [("grep", "context", 200), ("git_log", "limit", 200), ("jobs", "timeout", 600)]
)
def test_a_count_beyond_its_bound_is_refused_with_the_bound(tool: str, argument: str, most: int) -> None:
    offered = find((tool,))[tool]
    given = {"pattern": "x", "action": "list"}
    arguments = {name: value for name, value in given.items() if name in offered.parameters.get("required", [])}  # type: ignore[attr-defined]
    check_arguments(offered, {**arguments, argument: most})
    with pytest.raises(ToolError, match=str(most)):
        check_arguments(offered, {**arguments, argument: most + 1})


def test_grep_says_when_it_stopped(call: Call) -> None:
    done = call("grep", limits={"grep": 2}, pattern="area")
    assert "2 hits in" in done.summary and "stopped at 2: there are more" in done.summary


def test_grep_takes_what_is_no_expression_as_plain_text(call: Call) -> None:
    done = call("grep", pattern="area(2, 3")
    assert "no regular expression: searched for as plain text" in done.summary
    assert "assert area(2, 3) == 6" in done.text


def test_grep_without_hits_helps_on(call: Call) -> None:
    done = call("grep", pattern="perimeter")
    assert (done.status, done.summary) == ("success", "0 hits in 0 files for perimeter")
    assert done.next_actions == ("try a shorter pattern or case_insensitive",)


def test_outline_of_a_file_and_of_a_folder(call: Call) -> None:
    row = "4-6 def area(width: int, height: int) -> int  # Width times height."
    assert call("outline", path="shapes/area.py").text == f"shapes/area.py:\n{row}"
    assert call("outline", path="shapes").text == f"shapes/__init__.py:\nshapes/area.py:\n{row}"
    assert call("outline", path="README.md").next_actions == ("read_file README.md",)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("definitions", "shapes/area.py:4: def area(width: int, height: int) -> int"),
        ("callers", "tests/test_area.py:5 in test_area: assert area(2, 3) == 6"),
    ],
)
def test_find_symbol_tells_where_and_in_what(kind: str, text: str, call: Call) -> None:
    assert call("find_symbol", name="area()", kind=kind).text == text


def test_find_symbol_finds_references_in_imports_too(call: Call) -> None:
    rows = call("find_symbol", name="area", kind="references").text.splitlines()
    assert "shapes/__init__.py:1: from shapes.area import area" in rows


def test_find_symbol_refuses_patterns_and_helps_on(call: Call) -> None:
    assert call("find_symbol", name="area.*").error_type == "bad-arguments"
    assert call("find_symbol", name="perimeter").next_actions == ("grep perimeter",)


def test_git_diff_counts_what_changed(call: Call) -> None:
    assert call("git_diff", path="README.md").summary == "1 files changed, 2 lines added, 1 removed"
    assert call("git_diff").summary == "nothing has changed"
    assert call("git_diff", path="../x").error_type == "outside-workspace"


def test_grep_finds_a_needle_in_the_last_of_many_files_or_says_where_it_stopped(call: Call, project: Path) -> None:
    many = project / "many"
    many.mkdir()
    for number in range(3000):
        (many / f"f{number:05}.txt").write_bytes(b"hay needle\n" if number == 2990 else b"hay\n")
    found = call("grep", pattern="needle", path="many")
    assert "f02990.txt" in found.text and "stopped" not in found.summary
    assert "stopped at 100: there are more" in call("grep", pattern="hay", path="many").summary


def test_what_git_ignores_is_not_searched_and_parameters_hold(call: Call) -> None:
    assert "build/" not in call("grep", pattern="def AREA", case_insensitive=True).text
    assert call("grep", pattern="def AREA", case_insensitive=True, context=1).summary.startswith("1 hit ")
