"""A test that contradicts the request ends in a question with both texts; either answer leads to a delivery that keeps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.world import (
    IMPLEMENTED,
    SLUGIFY,
    TEST_SLUGIFY,
    edit,
    good_script,
    intake,
    reply,
    specification,
    submit,
)

if TYPE_CHECKING:
    from tests.support.world import Done, Script, World

FLIPPED = TEST_SLUGIFY.replace('"hello-world"', '"Hello-World"').replace('== "a"', '== "A"')
KEEPS_CAPITALS = SLUGIFY.replace("text.lower().split()", "text.split()")
ONE_TEST = 'def test_slug_of_the_base():\n    from textkit import slugify\n\n    assert slugify("Hello World") == "Hello-World"\n'


def asked(done: Done, place: str) -> None:
    assert (done.code, done.json["outcome"]) == (3, "escalated"), done.out
    (item,) = done.json["escalations"]
    assert item["stage"] == "intake" and "slugify('Hello World') -> 'hello-world'" in item["question"]
    assert place in item["question"] and '== "Hello-World"' in item["question"]


def without_red(**replaced: list[object]) -> Script:
    script = good_script(**replaced)  # type: ignore[arg-type]
    del script["red"]
    return script


def test_where_the_request_holds_the_supplied_test_is_changed_and_delivered(world: World) -> None:
    given = world.home / "test_slugify.py"
    given.write_text(FLIPPED.replace('== "A"', '== "a"'))
    asked(world.start(without_red(), "--tests", str(given)), "tests/test_slugify.py:4")
    done = world.run("resolve", "E1", "--answer", "the request holds", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    told = world.git("show", f"{done.json['branch']}:tests/test_slugify.py")
    assert "== 'hello-world'" in told and "Hello-World" not in told
    assert "Which holds?" in (world.folder / "artifacts/phases/deliver/delivery_report.md").read_text()


def test_where_the_test_holds_the_example_of_the_request_is_overruled_and_every_later_stage_reads_it(
    world: World,
) -> None:
    given = world.home / "test_slugify.py"
    given.write_text(FLIPPED)
    slugify = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    green = [reply(edit("    return text.lower()\n", f"    return text.lower()\n{KEEPS_CAPITALS}"), IMPLEMENTED)]
    spec = [reply(submit(specification(["slugify('Hello World') -> 'Hello-World'"], slugify)))]
    asked(world.start(without_red(spec=spec, green=green), "--tests", str(given)), "tests/test_slugify.py:4")
    done = world.run("resolve", "E1", "--answer", "the test holds", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert world.view("artifacts/phases/intake/intake_record.yaml")["examples"] == []
    steps = (row["data"] for row in world.events("StepFinished"))
    contexts = [world.run("inspect", world.task, "--step", str(one["step"]), "--show", "context").out for one in steps]
    said = ["slugify('Hello World') gives 'Hello-World': a human decided so" in shown for shown in contexts]
    assert said == [False, True, True, True]


def test_a_test_of_the_repository_that_the_request_overrules_is_changed_with_the_work(world: World) -> None:
    (world.repo / "tests" / "test_wishes.py").write_text(ONE_TEST)
    world.commit_all("a wish")
    asked(world.start(), "tests/test_wishes.py:4 (test_slug_of_the_base, a test of the repository)")
    done = world.run("resolve", "E1", "--answer", "1", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert "== 'hello-world'" in world.git("show", f"{done.json['branch']}:tests/test_wishes.py")


def test_a_dispute_can_end_the_task(world: World) -> None:
    (world.repo / "tests" / "test_wishes.py").write_text(ONE_TEST)
    world.commit_all("a wish")
    asked(world.start(), "tests/test_wishes.py:4")
    done = world.run("resolve", "E1", "--abort", "--resume", "--json")
    assert done.json["outcome"] == "aborted", done.out


def test_nothing_is_asked_where_test_and_request_agree(world: World) -> None:
    (world.repo / "tests" / "test_wishes.py").write_text(ONE_TEST.replace("Hello-World", "hello-world"))
    world.commit_all("a wish")
    done = world.start()
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out


def test_a_test_that_contradicts_words_of_the_request_is_shown_when_green_is_stuck_and_can_be_taken_out(
    world: World,
) -> None:
    given = world.home / "test_slugify.py"
    given.write_text(
        f"{TEST_SLUGIFY}\n\ndef test_capitals_stay():\n    from textkit import slugify\n\n    assert slugify('A b') == 'A-b'\n"
    )
    script = without_red()
    script["green"] = [*script["green"], *(reply(IMPLEMENTED) for _ in range(4)), *script["green"]]
    done = world.start(
        script, "--tests", str(given), request="Add slugify(text) to textkit: words in lower case, joined by hyphens"
    )
    assert (done.code, done.json["outcome"]) == (3, "escalated"), done.out
    (item,) = done.json["escalations"]
    assert item["stage"] == "green" and "the request says: Add slugify(text) to textkit" in item["question"]
    assert (
        "tests/test_slugify.py:17 (test_capitals_stay, supplied with the request) says: assert slugify('A b') == 'A-b'"
        in item["question"]
    )
    done = world.run("resolve", "E1", "--answer", "the request holds", "--reopen", "red", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    told = world.git("show", f"{done.json['branch']}:tests/test_slugify.py")
    assert "test_capitals_stay" not in told and "test_slugify_of_nothing_is_nothing" in told


@pytest.mark.parametrize(
    "request_",
    [
        "shout('hi') gives 'HI!', which is wrong. Two marks should stand there.",
        "shout('hi') gives 'HI!' but should give 'HI!!'.",
    ],
)
def test_a_result_that_the_base_gives_is_reported_and_no_dispute_with_the_test_that_a_user_brings(
    world: World, request_: str
) -> None:
    given = world.home / "test_marks.py"
    given.write_text('from textkit import shout\n\n\ndef test_marks():\n    assert shout("hi") == "HI!!"\n')
    done = world.start({"intake": [reply(submit(intake()))]}, "--tests", str(given), request=request_)
    assert [row["data"]["stage"] for row in world.events("StagePassed")][:1] == ["intake"], done.out
