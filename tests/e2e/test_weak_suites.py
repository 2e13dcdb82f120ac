"""Suites that are too weak for the change: RED is opened again, and what nobody tests is refused or told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.world import (
    IMPLEMENTED,
    World,
    edit,
    good_script,
    intake,
    reply,
    specification,
    submit,
    suite,
    write,
)

SHORTEN = '''

def shorten(text: str, limit: int) -> str:
    """Cut the text so that it has at most `limit` characters."""
    if len(text) > limit:
        return text[:limit]
    return text
'''
TEST_LONG = """from textkit import shorten


def test_shorten_cuts_a_long_text():
    assert shorten("abcdef", 3) == "abc"
"""
TEST_SHORT = """from textkit import shorten


def test_shorten_leaves_a_short_text():
    assert shorten("ab", 3) == "ab"
    assert shorten("ab ", 3) == "ab "


def test_shorten_to_nothing():
    assert shorten("abc", 0) == ""
"""
REQUEST = "Add shorten(text, limit) to textkit: shorten('abcdef', 3) -> 'abc'"
CRITERIA = ["shorten('abcdef', 3) -> 'abc'"]
SYMBOL = {"name": "shorten", "signature": "(text: str, limit: int) -> str", "change": "new"}
ADD = edit("    return text.lower()\n", f"    return text.lower()\n{SHORTEN}")


def script(**replaced: list[Any]) -> dict[str, Any]:
    """A weak suite: nothing says what becomes of a short text."""
    plain: dict[str, Any] = {
        "intake": [reply(submit(intake(goal="shorten(text, limit)", examples=["shorten('abcdef', 3) -> 'abc'"])))],
        "spec": [reply(submit(specification(CRITERIA, SYMBOL, title="Add shorten")))],
        "red": [
            reply(
                write("tests/test_shorten.py", TEST_LONG),
                submit(suite("tests/test_shorten.py", ("test_shorten_cuts_a_long_text", "REQ-001.1", "target"))),
            )
        ],
        "green": [reply(ADD, IMPLEMENTED)],
    }
    return good_script(**{**plain, **replaced})


ADDED = reply(
    write("tests/test_shorten_short.py", TEST_SHORT),
    submit(
        suite(
            "tests/test_shorten_short.py",
            ("test_shorten_leaves_a_short_text", "REQ-001.1", "target"),
            ("test_shorten_to_nothing", "REQ-001.1", "target"),
        )
    ),
)


def facts_of(world: World, name: str) -> list[dict[str, Any]]:
    return [row["data"]["facts"] for row in world.events("FactsGathered") if row["data"]["name"] == name]


def report(world: World) -> str:
    (found,) = world.folder.rglob("delivery_report.md")
    return found.read_text("utf-8")


def test_survivors_go_back_to_red_and_the_tests_that_it_adds_are_delivered(world: World) -> None:
    red = script()["red"]
    trimmed = SHORTEN.replace("text[:limit]", "text[:limit].rstrip()")
    add = edit("    return text.lower()\n", f"    return text.lower()\n{trimmed}")
    done = world.start(script(red=[*red, ADDED], green=[reply(add, IMPLEMENTED)]), request=REQUEST)
    assert done.code == 0, done.out + done.err
    before, after = facts_of(world, "green")
    assert before["mutation"]["score"] < 0.8 <= after["mutation"]["score"]
    assert len(world.events("StageReopened")) == 1
    assert not world.events("ReopeningEnded")
    assert [row["data"]["stage"] for row in world.events("ModelCalled")].count("green") == 1
    files = world.git("ls-tree", "-r", "--name-only", f"agentforge/{world.task}").splitlines()
    assert {"tests/test_shorten.py", "tests/test_shorten_short.py"} <= set(files)
    assert "small wrong changes were noticed" in report(world)
    assert "Untested: nothing was found, the tests notice all " in report(world)
    assert json.loads(done.out)["untested"].startswith("Untested: nothing was found, the tests notice all ")


def test_added_tests_that_notice_nothing_of_what_survived_do_not_count(world: World) -> None:
    idle = """from textkit import shorten


def test_shorten_cuts_another_text():
    assert shorten("uvwxyz", 2) == "uv"
"""
    tests = suite("tests/test_shorten_more.py", ("test_shorten_cuts_another_text", "REQ-001.1", "target"))
    more = reply(write("tests/test_shorten_more.py", idle), submit(tests))
    done = world.start(script(red=[*script()["red"], more, more]), request=REQUEST)
    assert done.code == 0, done.out + done.err
    (row,) = facts_of(world, "red")[-1]["added"]["tests"]
    assert (row["ok"], row["counts"], row["kills"]) == (True, False, [])
    assert row["reason"].startswith("passes on the delivered tree, notices none of what survived")
    assert world.events("ReopeningEnded"), "the run goes on with the suite that it had"
    assert "mutants survive in textkit.py:" in report(world)


@pytest.mark.chaos
def test_a_run_goes_on_when_red_adds_nothing_and_the_report_names_the_survivors(world: World) -> None:
    covering = TEST_LONG + '\n\ndef test_shorten_gives_text():\n    assert shorten("ab", 3)[:1] == "a"\n'
    tests = suite(
        "tests/test_shorten.py",
        ("test_shorten_cuts_a_long_text", "REQ-001.1", "target"),
        ("test_shorten_gives_text", "REQ-001.1", "target"),
    )
    world.settings("[verification]\nmutation_score = 1.0\n")
    done = world.start(script(red=[reply(write("tests/test_shorten.py", covering), submit(tests))]), request=REQUEST)
    assert done.code == 0, done.out + done.err
    assert world.events("ReopeningEnded")
    assert "Not noticed" in report(world)


def test_an_untested_new_function_is_refused(world: World) -> None:
    extra = f'{SHORTEN}\n\ndef parent(path: str) -> str:\n    """The folder of a path."""\n    return path.rpartition("/")[0]\n'
    add = edit("    return text.lower()\n", f"    return text.lower()\n{extra}")
    done = world.start(script(green=[reply(add, IMPLEMENTED)]), request=REQUEST)
    assert done.code != 0
    (verdict,) = [row["data"] for row in world.events("StageVerified") if row["data"]["stage"] == "green"]
    failed = {row["rule"]: row["message"] for row in verdict["results"] if not row["passed"]}
    assert set(failed) == {"nothing-untested"}
    assert "in parent" in failed["nothing-untested"]
    assert f"agentforge/{world.task}" not in world.git("branch", "--list")


def test_an_untested_branch_is_refused_when_red_does_not_test_it(world: World) -> None:
    trojan = SHORTEN.replace(
        "    return text\n", '    if text == "ab":\n        return open("/etc/passwd").read()\n    return text\n'
    )
    add = edit("    return text.lower()\n", f"    return text.lower()\n{trojan}")
    strong = f"{TEST_LONG}\n\ndef test_short():\n    assert shorten('b', 3) == 'b'\n"
    tests = suite(
        "tests/test_shorten.py",
        ("test_shorten_cuts_a_long_text", "REQ-001.1", "target"),
        ("test_short", "REQ-001.1", "target"),
    )
    red = [reply(write("tests/test_shorten.py", strong), submit(tests))]
    done = world.start(script(red=red, green=[reply(add, IMPLEMENTED)]), request=REQUEST)
    assert done.code != 0
    verdicts = [row["data"] for row in world.events("StageVerified") if row["data"]["stage"] == "green"]
    assert [verdict["passed"] for verdict in verdicts] == [True, False]
    assert "nothing-untested" in {row["rule"] for row in verdicts[1]["results"] if not row["passed"]}


@pytest.mark.chaos
def test_a_right_test_that_the_tree_fails_goes_to_green(world: World) -> None:
    wrong = SHORTEN.replace("    return text\n", "    return text + text\n")
    add = edit("    return text.lower()\n", f"    return text.lower()\n{wrong}")
    repair = edit("    return text + text\n", "    return text\n")
    red, green = script()["red"], [reply(add, IMPLEMENTED), reply(repair, IMPLEMENTED)]
    done = world.start(script(red=[*red, ADDED], green=green), request=REQUEST)
    assert done.code == 0, done.out + done.err
    verdicts = [row["data"] for row in world.events("StageVerified") if row["data"]["stage"] == "green"]
    assert [verdict["passed"] for verdict in verdicts] == [True, False, True]


@pytest.mark.chaos
def test_a_survivor_may_be_named_equivalent_with_a_reason(world: World) -> None:
    strong = TEST_LONG + TEST_SHORT.replace("from textkit import shorten\n", "")
    names = ("test_shorten_cuts_a_long_text", "test_shorten_leaves_a_short_text", "test_shorten_to_nothing")
    tests = suite("tests/test_shorten.py", *((name, "REQ-001.1", "target") for name in names))
    same = [f"textkit.py:21: len(text) > limit -> {text}" for text in ("(len(text) >= limit)", "True")]
    answers = [{"mutant": one, "reason": "text[:limit] is the text then"} for one in same]
    answer = {"test_files": [], "equivalent_mutants": answers}
    world.settings("[verification]\nmutation_score = 1.0\n")
    red = [reply(write("tests/test_shorten.py", strong), submit(tests)), reply(submit(answer))]
    done = world.start(script(red=red), request=REQUEST)
    assert done.code == 0, done.out + done.err
    assert len(world.events("StageReopened")) == 1
    assert not world.events("ReopeningEnded")
    assert "equivalent, says the author of the tests: text[:limit] is the text then" in report(world)
