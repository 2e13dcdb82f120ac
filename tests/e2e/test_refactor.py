"""Refactorings through the real command line: planned and shown, tested, delivered or applied; no model is configured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.world import World


def test_a_renaming_becomes_a_verified_branch_without_any_model(world: World) -> None:
    done = world.run("refactor", "rename", "shout", "yell", "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["llm_calls"] == 0
    diff = world.git("diff", "main", done.json["branch"])
    assert "+def yell(" in diff and "+++ b/tests/test_textkit.py" in diff
    assert "def shout" in (world.repo / "textkit.py").read_text()
    assert "the same" in world.run("replay", done.json["task_id"]).out


def test_apply_changes_the_checkout_after_the_tests_passed_and_nothing_else_is_committed(world: World) -> None:
    before = world.git("rev-parse", "HEAD")
    done = world.run("refactor", "signature", "shout", "--rename", "text=words", "--apply", "--json")
    assert done.code == 0, done.out + done.err
    value = json.loads(done.out)
    assert value["applied"] and value["files"] == ["textkit.py"] and value["tests"]["passed"] > 0
    assert "def shout(words: str)" in (world.repo / "textkit.py").read_text()
    assert world.git("rev-parse", "HEAD") == before and not world.git("branch", "--list", "agentforge/*")


def test_what_breaks_a_test_is_not_applied_and_the_test_is_named(world: World) -> None:
    hidden = 'import textkit\n\n\ndef test_all():\n    assert {"shout"} <= set(vars(textkit))\n'
    (world.repo / "tests" / "test_names.py").write_text(hidden)
    done = world.run("refactor", "rename", "shout", "yell", "--apply")
    assert done.code == 4 and "tests/test_names.py::test_all" in done.err
    assert "def shout" in (world.repo / "textkit.py").read_text()


def test_two_definitions_are_an_error_that_names_the_choices(world: World) -> None:
    (world.repo / "spare.py").write_text("def mumble(text: str) -> str:\n    return text\n")
    world.commit_all("Another mumble")
    done = world.run("refactor", "rename", "mumble", "murmur", "--dry-run")
    assert done.code == 2 and "mumble (spare.py)" in done.err and "--in" in done.err
    shown = world.run("refactor", "rename", "mumble", "murmur", "--in", "spare.py", "--dry-run")
    assert shown.code == 0 and "+def murmur(" in shown.out and "textkit.py" not in shown.out
