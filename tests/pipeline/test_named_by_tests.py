"""SPEC sees which existing tests name what changes; a name that no test has costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentforge.context.packer import fill
from agentforge.pipeline.context.material import gather
from agentforge.pipeline.context.test_mentions import named_in_tests
from agentforge.pipeline.model.runtime import Runtime
from tests.support.run_states import with_fields
from tests.support.stage_states import inside


def test_each_name_is_told_with_the_files_and_tests_that_have_it(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "CASES = [1]\n\n\ndef test_a(case):\n    assert shout(case)\n    assert shout(case + 1)\n    assert not shouted\n"
    )
    (tmp_path / "test_b.py").write_text("shout\n" * 6)
    told = named_in_tests(tmp_path, ["test_a.py", "test_b.py"], ["Kit.shout", "CASES", "nobody", "is"])
    assert told.split("\n") == ["- shout: test_b.py 1, 2, 3, 4 and 2 more; test_a.py test_a", "- CASES: test_a.py 1"]
    assert named_in_tests(tmp_path, ["test_a.py"], ["nobody", "is"]) == ""
    for number in range(13):
        (tmp_path / f"test_{number}.py").write_text("CASES\n")
    assert named_in_tests(tmp_path, [f"test_{number}.py" for number in range(13)], ["CASES"]) == "- CASES: 13 files"


def test_tests_are_told_by_their_classes_and_titles(tmp_path: Path) -> None:
    (tmp_path / "test_kit.py").write_text(
        "class TestShout:\n    def test_loud(self):\n        assert shout(1)\n\n    def test_soft(self):\n        assert not shout(2)\n"
    )
    (tmp_path / "kit.test.js").write_text(
        "describe('words', () => {\n  it('are loud', () => {\n    shout(1)\n  })\n})\n"
    )
    told = named_in_tests(tmp_path, ["test_kit.py", "kit.test.js"], ["shout"])
    assert told == "- shout: test_kit.py TestShout.test_loud, TestShout.test_soft; kit.test.js are loud"


def test_the_first_context_tells_which_tests_name_what_is_likely_to_change(runtime: Callable[..., Runtime]) -> None:
    made = runtime()
    base = made.git.resolve("HEAD")
    state = with_fields(inside("intake", request="Let `shout` be loud."), artifacts={}, base_commit=base)
    text = fill(gather("intake", state, made), room=8000).text
    assert "- shout: tests/test_text.py test_" in text


def test_the_specification_is_written_in_sight_of_the_named_in_tests_the_symbols(
    runtime: Callable[..., Runtime],
) -> None:
    made = runtime()
    base = made.git.resolve("HEAD")
    state = with_fields(inside("spec", request="Let shout be loud."), base_commit=base)
    symbols = [{"file": "kit/text.py", "name": "shout", "line": 1}]
    analysis = {**state.work.artifacts.get("analyze", {}), "symbols": symbols}
    state = with_fields(state, artifacts={**state.work.artifacts, "analyze": analysis})
    assert "- shout: tests/test_text.py " in fill(gather("spec", state, made), room=8000).text
