"""Proves that the tool refactor changes every use, shows what it would do, and says what is open instead of guessing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.toolbox.code.refactor import TOOL
from agentforge.tools.base import Observation

Call = Callable[..., Observation]


def test_a_renaming_reaches_every_file_and_a_dry_run_none(project: Path, call: Call) -> None:
    tried = call("refactor", action="rename", symbol="area", to="surface", dry_run=True)
    assert tried.status == "success" and tried.changed == ()
    assert "def area" in (project / "shapes/area.py").read_text()
    done = call("refactor", action="rename", symbol="shapes/area.py::area", to="surface")
    assert done.changed == ("shapes/__init__.py", "shapes/area.py", "tests/test_area.py")
    assert (project / "tests/test_area.py").read_text().startswith("from shapes import surface\n")


def test_a_move_and_a_parameter_change_what_uses_them(project: Path, call: Call) -> None:
    call("refactor", action="rename_parameter", symbol="area", parameter="width", to="breadth")
    call("refactor", action="move", symbol="area", to="shapes/plane.py")
    assert "def area(breadth: int, height: int)" in (project / "shapes/plane.py").read_text()
    assert (project / "shapes/__init__.py").read_text() == "from shapes.plane import area\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"action": "rename", "symbol": "area"}, "bad-arguments"),
        ({"action": "drop_parameter", "symbol": "area"}, "bad-arguments"),
        ({"action": "rename", "symbol": "nothing", "to": "something"}, "unclear"),
        ({"action": "rename", "symbol": "area", "to": "class"}, "unclear"),
        ({"action": "delete", "symbol": "nothing"}, "not-found"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    project: Path, call: Call, arguments: dict[str, object], error: str
) -> None:
    before = (project / "shapes/area.py").read_bytes()
    assert call("refactor", **arguments).error_type == error
    assert (project / "shapes/area.py").read_bytes() == before


def test_two_definitions_are_told_apart_by_their_path(project: Path, call: Call) -> None:
    (project / "spare.py").write_text("def area():\n    return 1\n")
    asked = call("refactor", action="rename", symbol="area", to="surface")
    assert asked.error_type == "ambiguous"
    assert asked.next_actions == ("symbol shapes/area.py::area", "symbol spare.py::area")
    assert call("refactor", action="rename", symbol="spare.py::area", to="surface").changed == ("spare.py",)


def test_a_file_that_may_not_be_written_keeps_all_others_as_they_are(project: Path, call: Call) -> None:
    (project / "frozen.py").write_text("from shapes import area\n\nprint(area(1, 2))\n")
    assert call("refactor", action="rename", symbol="area", to="surface").error_type == "out-of-scope"
    assert "def area" in (project / "shapes/area.py").read_text()


def test_what_a_call_would_write_is_known_before_it_is_judged(project: Path) -> None:
    foreseen = TOOL.foresees
    assert foreseen is not None
    found = foreseen({"action": "rename", "symbol": "area", "to": "surface"}, project)
    assert found.paths == ("shapes/__init__.py", "shapes/area.py", "tests/test_area.py")
    assert "+def surface(" in found.diff
    assert foreseen({"action": "rename", "symbol": "area", "to": "surface", "dry_run": True}, project).paths == ()
