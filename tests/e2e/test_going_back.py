"""An answer in GREEN changes the specification: it is written again with the answer, and all that followed is done again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.world import (
    ADD_SLUGIFY,
    IMPLEMENTED,
    SLUGIFY,
    SLUGIFY_SUITE,
    TEST_SLUGIFY,
    edit,
    good_script,
    reply,
    specification,
    submit,
    suite,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import Script, World

_SYMBOL = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
_ANSWER = "words are joined by hyphens; nothing gives nothing"
_WRONG = """def test_slugify_joins_by_hyphens():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_by_blanks():
    from textkit import slugify

    assert slugify("a b") == "a b"
"""


def _script() -> Script:
    """A specification that contradicts itself, then one as the human wants it."""
    first = specification(["slugify('Hello World') -> 'hello-world'", "slugify('a b') -> 'a b'"], _SYMBOL)
    second = specification(["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"], _SYMBOL)
    wrong = suite(
        "tests/test_wrong.py",
        ("test_slugify_joins_by_hyphens", "REQ-001.1", "target"),
        ("test_slugify_joins_by_blanks", "REQ-001.2", "target"),
    )
    return good_script(
        spec=[reply(submit(first)), reply(submit(second))],
        red=[
            reply(write("tests/test_wrong.py", _WRONG), submit(wrong)),
            reply(write("tests/test_slugify.py", TEST_SLUGIFY), submit(SLUGIFY_SUITE)),
        ],
        green=[
            reply(edit("    return text.lower()\n", "    return text.lower()  # ?\n"), IMPLEMENTED),
            reply(edit("    return text.lower()  # ?\n", f"    return text.lower()\n{SLUGIFY}"), IMPLEMENTED),
        ],
    )


def test_an_answer_opens_the_specification_again_and_the_trail_shows_it(world: World) -> None:
    done = world.start(_script(), "--stage-attempts", "1")
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"], asked["kind"]) == (3, "green", "stuck"), done.out
    assert "--reopen spec" in world.run("escalations", "show", "E1").out
    for wrong, told in (("green", "one of"), ("nonsense", "one of"), ("intake", "one of")):
        refused = world.run("resolve", "E1", "--reopen", wrong, "--answer", "x")
        assert (refused.code, told in refused.err) == (2, True), refused.err
    assert world.run("resolve", "E1", "--reopen", "spec", "--approve").code == 2
    resumed = world.run("resolve", "E1", "--reopen", "plan", "--answer", _ANSWER, "--resume", "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err
    attempts = {row["name"]: (row["status"], row["attempts"]) for row in resumed.json["stages"]}
    assert attempts["analyze"] == ("verified", 1)
    assert {attempts[name] for name in ("spec", "red")} == {("verified", 2)}
    assert attempts["green"] == ("verified", 3)  # what was under way is measured again: no attempt of the model
    (reopened,) = world.events("StageReopened")
    assert (reopened["data"]["stage"], reopened["data"]["reason"]) == ("spec", "answered")
    assert _ANSWER in reopened["data"]["answer"]
    asked_again = [one for one in world.events("ModelCalled") if one["data"]["stage"] == "spec"][-1]
    sent = world.run("inspect", world.task, "--step", str(asked_again["data"]["step"]), "--show", "context", "--json")
    assert _ANSWER in json.dumps(sent.json)
    files = world.git("ls-tree", "-r", "--name-only", resumed.json["branch"]).split()
    assert "tests/test_slugify.py" in files and "tests/test_wrong.py" not in files
    assert "# ?" not in world.git("show", f"{resumed.json['branch']}:textkit.py")
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err


def test_a_test_that_forgets_something_goes_back_to_red_before_a_human_is_asked(world: World) -> None:
    forgets = (
        TEST_SLUGIFY + "\n\ndef test_slugify_on_a_terminal():\n    import sys\n\n    from textkit import slugify\n\n"
    )
    forgets += "    assert slugify('A B') == 'a-b'\n    assert sys.__stdout__.isatty()\n"
    more = suite(
        "tests/test_slugify.py",
        ("test_slugify_lowers_and_hyphenates", "REQ-001.1", "target"),
        ("test_slugify_of_nothing_is_nothing", "REQ-001.2", "target"),
        ("test_slugify_on_a_terminal", "REQ-001.1", "target"),
    )
    question = ("ask_human", {"question": "test_slugify_on_a_terminal wants a terminal, and no run has one"})
    script = good_script(
        red=[
            reply(write("tests/test_slugify.py", forgets), submit(more)),
            reply(write("tests/test_slugify.py", TEST_SLUGIFY), submit(SLUGIFY_SUITE)),
        ],
        green=[reply(ADD_SLUGIFY, IMPLEMENTED), reply(question)],
    )
    done = world.start(script)
    assert (done.code, done.json["outcome"], done.json["escalations"]) == (0, "delivered", []), done.out
    (opened,) = world.events("StageReopened")
    assert [one["rule"] for one in opened["data"]["findings"]] == ["contested"]
    handed_in = [(row["data"]["stage"], row["data"]["by"]) for row in world.events("ArtifactSubmitted")]
    assert handed_in[-6:] == [
        ("red", "model"), ("green", "model"), ("red", "model"), ("green", "harness"), ("refactor", "harness"), ("deliver", "harness"),
    ]  # fmt: skip
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err


def test_accepted_work_is_measured_again_and_not_written_again(world: World) -> None:
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    first = specification(criteria, _SYMBOL)
    second = specification(criteria, _SYMBOL, constraints=[{"description": "no new dependency"}])
    script = good_script(spec=[reply(submit(first)), reply(submit(second))])
    assert world.start(script, "--approve", "deliver").code == 3
    answer = ("resolve", "E1", "--reopen", "spec", "--answer", "say that it needs no dependency", "--resume", "--json")
    again = world.run(*answer)
    assert (again.code, again.json["outcome"]) == (3, "escalated"), again.out + again.err
    called = [record["data"]["stage"] for record in world.events("ModelCalled")]
    assert called == ["intake", "analyze", "spec", "red", "green", "spec"]
    handed_in = [(row["data"]["stage"], row["data"]["by"]) for row in world.events("ArtifactSubmitted")]
    assert handed_in[-4:] == [("red", "harness"), ("green", "harness"), ("refactor", "harness"), ("deliver", "harness")]
    sent = world.run(
        "inspect",
        world.task,
        "--step",
        str(world.events("ModelCalled")[-1]["data"]["step"]),
        "--show",
        "context",
        "--json",
    )
    assert "what you had handed in before" in json.dumps(sent.json)
    done = world.run("resolve", "E2", "--approve", "--resume", "--json")
    assert done.json["outcome"] == "delivered", done.out
    assert "slug" in world.git("show", f"{done.json['branch']}:textkit.py")
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err
