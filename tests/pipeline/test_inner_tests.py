"""Product files that hold tests: RED writes these alone, GREEN leaves what was frozen, and both are shown where they stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentforge.context.sections import Level, Section, View
from agentforge.pipeline.context.excerpts import code_view
from agentforge.pipeline.context.inner_tests import frozen_piece, place_piece, with_frozen, with_places
from agentforge.pipeline.engine.kept_work import put_kept_files
from agentforge.pipeline.engine.stage_agent import refusal_of
from agentforge.pipeline.engine.workbench import may_hold
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import product_symbols, suite_files, suite_parts, superseded_tests
from agentforge.pipeline.repairs.ground import RepairContext
from agentforge.pipeline.stages import load_stages
from tests.support.stage_states import inside

Make = Callable[..., Runtime]
STAGES = load_stages()
CODE = "".join(f"pub fn number_{one}() -> u32 {{\n    {one}\n}}\n\n" for one in range(200))
MODULE = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn zero() {\n        assert_eq!(number_0(), 0);\n    }\n}\n"
ADDED = MODULE.replace("}\n}\n", "}\n\n    #[test]\n    fn one() {\n        assert_eq!(number_1(), 1);\n    }\n}\n")
SUITE = {"test_files": [{"path": "src/lib.rs", "tests": [{"name": "tests::one"}]}, {"path": "tests/a.rs", "tests": []}]}
FROZEN = {"red": {"frozen_files": {"src/lib.rs#tests": "h"}}}


@pytest.fixture
def crate(runtime: Make) -> tuple[Runtime, Callable[[str], str]]:
    """A runtime, and what makes a tree of it in which src/lib.rs has a text."""
    made = runtime()

    def tree(text: str) -> str:
        (made.worktree / "src").mkdir(exist_ok=True)
        (made.worktree / "src/lib.rs").write_text(text)
        return made.guard.tree()

    return made, tree


def judged(made: Runtime, stage: str, text: str, path: str = "src/lib.rs", **changes: Any) -> str | None:
    return may_hold(inside(stage, **changes), STAGES[stage], made)(path, text)


def test_red_may_write_product_files_whose_language_keeps_tests_inside_and_no_others() -> None:
    red = refusal_of(inside("red"), STAGES["red"])
    told = ("src/lib.rs", "tests/a.rs", "src/tests.rs", "src/lib.py", "src/lib.go", ".git/a.rs", "../a.rs")
    assert [path for path in told if red(path) is None] == ["src/lib.rs", "tests/a.rs", "src/tests.rs"]


def test_red_writes_inside_of_a_module_of_tests_alone(crate: tuple[Runtime, Callable[[str], str]]) -> None:
    made, tree = crate
    trees = {"baseline": tree(CODE + MODULE)}
    assert judged(made, "red", CODE + ADDED, trees=trees) is None
    assert judged(made, "red", CODE.replace("199", "1") + ADDED, trees=trees) is not None
    assert judged(made, "red", f"{CODE}{ADDED}pub fn more() {{}}\n", trees=trees) is not None
    assert judged(made, "red", ADDED, path="src/new.rs", trees=trees) is not None
    assert judged(made, "red", "anything", path="tests/a.rs", trees=trees) is None
    assert judged(made, "red", CODE + MODULE + "fn half( {", trees=trees) is None  # measured, when it is handed in
    crlf = {"baseline": tree((CODE + MODULE).replace("\n", "\r\n"))}
    assert judged(made, "red", CODE + ADDED, trees=crlf) is None


def test_green_leaves_the_frozen_tests_of_a_product_file(crate: tuple[Runtime, Callable[[str], str]]) -> None:
    made, tree = crate
    now: dict[str, Any] = {"trees": {"baseline": tree(CODE + MODULE), "red": tree(CODE + ADDED)}, "facts": FROZEN}
    for stage in ("green", "refactor"):
        assert judged(made, stage, CODE.replace("199", "1") + ADDED, **now) is None
        assert judged(made, stage, CODE + MODULE, **now) is not None
        assert judged(made, stage, CODE + ADDED.replace("1)", "2)"), **now) is not None
    assert (
        judged(made, "green", CODE + MODULE, trees=now["trees"], facts={"red": {"frozen_files": {"tests/a.rs": "h"}}})
        is None
    )


def test_a_product_file_of_the_suite_is_no_file_of_tests() -> None:
    state = inside("green", artifacts={**inside("green").work.artifacts, "red": SUITE})
    assert (suite_files(state), suite_parts(state)) == (("tests/a.rs",), ("src/lib.rs",))


def test_a_test_inside_of_the_product_can_be_declared_as_changed(crate: tuple[Runtime, Callable[[str], str]]) -> None:
    made, tree = crate
    rows = [
        {"name": name, "file": "src/lib.rs", "change": "changed"} for name in ("number_0", "tests::zero", "tests.zero")
    ]
    assert [row["name"] for row in product_symbols({"symbols": rows})] == ["number_0"]
    assert set(superseded_tests({"symbols": rows})) >= {"src/lib.rs::tests::zero"}
    ground = RepairContext(inside("spec"), tree=tree(CODE + MODULE), git=made.git)
    assert ground.full_title("src/lib.rs", "zero") == "tests::zero"
    assert ground.full_title("src/lib.rs", "number_0") == "number_0"
    assert (ground.tests("src/lib.rs").count("fn "), ground.tests("tests/test_text.py")[:4]) == (1, "from")


def test_what_green_had_written_comes_back_beside_the_new_tests_of_red(
    crate: tuple[Runtime, Callable[[str], str]],
) -> None:
    made, tree = crate
    object.__setattr__(made, "rig", lambda: _Reading(made))
    old = CODE.replace("199", "1")
    kept = {"green": {"before": tree(CODE + MODULE), "tree": tree(old + MODULE)}}
    red = tree(CODE + ADDED)
    spec = {**inside("green").work.artifacts, "spec": {"files_to_modify": ["src/lib.rs"]}}
    state = inside("green", kept=kept, trees={"red": red}, artifacts=spec)
    now = put_kept_files(STAGES["green"], 1, state, made)
    assert (made.git.show(now, "src/lib.rs") or b"").decode() == old + ADDED


class _Reading:
    def __init__(self, made: Runtime) -> None:
        self.read = lambda tree: lambda path: made.git.show(tree, path)


# -- what is shown


def _lines(view: View, level: Level) -> set[int]:
    return {number for one in view.wants if one.level == level for number in range(one.first, one.last + 1)}


def test_red_is_shown_where_the_tests_of_a_product_file_go(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text(CODE + MODULE)
    (tmp_path / "bare.rs").write_text(CODE)
    first = CODE.count("\n") + 1
    told = place_piece(tmp_path, ["lib.rs", "bare.rs", "gone.rs", "a.py"])
    assert told.level == Level.LAW and f"lib.rs: its tests stand in lines {first}-{first + 8}" in told.text
    assert "bare.rs: it has no tests inside" in told.text and "gone.rs" not in told.text
    assert place_piece(tmp_path, ["a.py", "a.go"]).text == ""
    view = code_view(tmp_path, "lib.rs", names=["number_3"])
    assert view is not None
    (wide,) = with_places(tmp_path, [view])
    assert isinstance(wide, View) and set(range(first, first + 9)) <= _lines(wide, Level.NAMED)


def test_green_is_shown_what_is_new_in_the_frozen_tests_as_law(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text(CODE + ADDED)
    view = code_view(tmp_path, "lib.rs", names=["number_3"])
    assert view is not None

    def law(sections: list[Section]) -> set[int]:
        (shown,) = with_frozen(tmp_path, sections, ["lib.rs"], before=lambda _path: CODE + MODULE)
        assert isinstance(shown, View)
        return _lines(shown, Level.LAW)

    rows = (CODE + ADDED).split("\n")
    for found in (law([view]), law([])):
        assert {"    fn one() {", "        assert_eq!(number_1(), 1);"} <= {rows[number - 1] for number in found}
        assert min(found) > CODE.count("\n")
    assert "lib.rs: lines" in frozen_piece(tmp_path, ["lib.rs"]).text and frozen_piece(tmp_path, []).text == ""
