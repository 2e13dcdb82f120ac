"""Proves workspace/sketch.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.tokens import count_tokens
from agentforge.workspace.code.relevance import rank
from agentforge.workspace.code.sketch import sketch


@pytest.fixture
def product(tmp_path: Path) -> Path:
    (tmp_path / "kit").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "kit" / "shapes.py").write_text(
        "class Circle:\n    def area(self):\n        return 1\n\n    def rim(self):\n        return 2\n\n\ndef total():\n    return 3\n"
    )
    (tmp_path / "kit" / "codes.py").write_text(
        "".join(f"CODE_{number} = {number}\n" for number in range(40)) + "def name(): ...\n"
    )
    (tmp_path / "tests" / "test_shapes.py").write_text("def test_area():\n    pass\n")
    for number in range(30):
        body = "".join(f"def helper_{number}_{at}():\n    return {at}\n\n\n" for at in range(12))
        (tmp_path / "kit" / f"part_{number}.py").write_text(body)
    return tmp_path


def test_members_stand_with_their_class_and_everything_has_its_line(product: Path) -> None:
    drawn = sketch(product, rank(product, ["circle"]), room=4000)
    assert "kit/shapes.py: Circle 1 (area 2, rim 5), total 9" in drawn.split("\n")


def test_long_rows_of_constants_are_left_out(product: Path) -> None:
    drawn = sketch(product, [], room=4000)
    assert "kit/codes.py: name 41" in drawn.split("\n")


def test_the_one_constant_that_is_asked_for_is_kept(product: Path) -> None:
    drawn = sketch(product, rank(product, ["CODE_17"]), room=4000)
    assert "CODE_17 18" in drawn


@pytest.mark.parametrize("room", [100, 400, 900, 2500])
def test_the_room_is_kept_and_what_has_no_line_is_counted(product: Path, room: int) -> None:
    drawn = sketch(product, rank(product, ["circle"]), room=room)
    assert count_tokens(drawn) <= room + 12
    assert drawn.startswith("kit/shapes.py")
    assert ("more files" in drawn) == (room < 900)


def test_tests_are_no_part_of_it(product: Path) -> None:
    assert "test_shapes" not in sketch(product, rank(product, ["area"]), room=4000)
