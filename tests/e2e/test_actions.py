"""Every action takes its road, with the real command line, git, pytest and sandbox; only the model is scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.world import (
    ADD_SLUGIFY,
    IMPLEMENTED,
    TEST_SLUGIFY,
    TEXTKIT,
    analysis,
    edit,
    good_script,
    intake,
    reply,
    specification,
    submit,
    suite,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import Script, World


def _stages(result: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["status"] for row in result["stages"]}


def _script(action: str, criteria: list[str], symbol: dict[str, str], test: str, suite_: Any, change: Any) -> Script:
    return good_script(
        intake=[reply(submit(intake(action, examples=[])))],
        spec=[reply(submit(specification(criteria, symbol, title=f"{action} it")))],
        red=[reply(write("tests/test_new.py", test), submit(suite_))],
        green=[reply(change, IMPLEMENTED)],
    )


def test_modify_adds_an_argument_and_guards_the_old_behaviour(world: World) -> None:
    test = (
        "from textkit import shout\n\n\ndef test_more_marks():\n    assert shout('hi', marks=2) == 'HI!!'\n    assert shout('a', marks=3) == 'A!!!'\n\n\n"
        "def test_one_mark_is_the_default():\n    assert shout('hi') == 'HI!'\n"
    )
    tests = suite(
        "tests/test_new.py",
        ("test_more_marks", "REQ-001.1", "target"),
        ("test_one_mark_is_the_default", "REQ-001.2", "guard"),
    )
    symbol = {"name": "shout", "signature": "(text: str, *, marks: int = 1) -> str", "change": "changed"}
    change = edit(
        'def shout(text: str) -> str:\n    """Upper-case the text and add an exclamation mark."""\n    return text.upper() + "!"\n',
        'def shout(text: str, *, marks: int = 1) -> str:\n    """Upper-case the text and add exclamation marks."""\n    return text.upper() + "!" * marks\n',
    )
    criteria = ["shout('hi', marks=2) -> 'HI!!'", "shout('hi') -> 'HI!'"]
    done = world.start(_script("modify", criteria, symbol, test, tests, change), request="shout takes marks")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert world.git("log", "-1", "--format=%s", done.json["branch"]) == "feat: modify it"


def test_fix_makes_a_wrong_value_right(world: World) -> None:
    test = "from textkit import initials\n\n\ndef test_three_words():\n    assert initials('big old cat') == 'boc'\n    assert initials('a b c d') == 'abcd'\n"
    tests = suite("tests/test_new.py", ("test_three_words", "REQ-001.1", "target"))
    symbol = {"name": "initials", "signature": "(text: str) -> str", "change": "changed"}
    change = edit("text.split()[:2]", "text.split()")
    done = world.start(_script("fix", ["initials('big old cat') -> 'boc'"], symbol, test, tests, change))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert world.git("log", "-1", "--format=%s", done.json["branch"]) == "fix: fix it"


def test_refactor_is_guarded_by_tests_that_pass_before_and_after(world: World) -> None:
    test = "from textkit import initials\n\n\ndef test_initials_stay():\n    assert initials('ab cd') == 'ac'\n    assert initials('ab') == 'a'\n"
    tests = suite("tests/test_new.py", ("test_initials_stay", "REQ-001.1", "guard"))
    symbol = {"name": "initials", "signature": "(text: str) -> str", "change": "changed"}
    change = edit(
        '    return "".join(word[0] for word in text.split()[:2])\n',
        '    words = text.split()[:2]\n    return "".join(word[0] for word in words)\n',
    )
    done = world.start(_script("refactor", ["initials('ab cd') -> 'ac'"], symbol, test, tests, change))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out


def test_delete_removes_a_function_and_guards_its_neighbours(world: World) -> None:
    test = "from textkit import shout\n\n\ndef test_shout_stays():\n    assert shout('ho') == 'HO!'\n"
    tests = suite("tests/test_new.py", ("test_shout_stays", "REQ-001.1", "guard"))
    symbol = {"name": "mumble", "signature": "(text: str) -> str", "change": "removed"}
    change = edit(TEXTKIT[TEXTKIT.index("\n\ndef mumble") :], "")
    done = world.start(_script("delete", ["mumble is gone, shout('ho') -> 'HO!'"], symbol, test, tests, change))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert "mumble" not in world.git("show", f"{done.json['branch']}:textkit.py")


def test_a_test_file_that_red_leaves_empty_is_gone_on_the_branch(world: World) -> None:
    old = "from textkit import mumble\n\n\ndef test_mumble():\n    assert mumble('Ho') == 'ho'\n"
    (world.repo / "tests" / "test_mumble.py").write_text(old)
    world.commit_all("a test")
    test = "from textkit import shout\n\n\ndef test_shout_stays():\n    assert shout('ho') == 'HO!'\n"
    symbols = (
        {"name": "mumble", "signature": "(text: str) -> str", "change": "removed"},
        {"name": "test_mumble", "file": "tests/test_mumble.py", "change": "removed"},
    )
    script = good_script(
        intake=[reply(submit(intake("delete", examples=[])))],
        spec=[reply(submit(specification(["mumble is gone, shout('ho') -> 'HO!'"], *symbols)))],
        red=[
            reply(
                write("tests/test_new.py", test),
                write("tests/test_mumble.py", ""),
                submit(suite("tests/test_new.py", ("test_shout_stays", "REQ-001.1", "guard"))),
            )
        ],
        green=[reply(edit(TEXTKIT[TEXTKIT.index("\n\ndef mumble") :], ""), IMPLEMENTED)],
    )
    done = world.start(script, request="Delete mumble and its tests")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert world.git("ls-tree", "--name-only", done.json["branch"], "tests/").split() == [
        "tests/test_new.py", "tests/test_textkit.py",
    ]  # fmt: skip


def test_analyze_ends_with_a_report_and_changes_nothing(world: World) -> None:
    before = world.git("for-each-ref")
    findings = ["shout upper-cases: textkit.py:4"]
    script = good_script(
        intake=[reply(submit(intake("analyze", examples=[])))], analyze=[reply(submit(analysis(findings=findings)))]
    )
    done = world.start(script, request="How does textkit shout?")
    assert (done.code, done.json["outcome"], done.json["branch"]) == (0, "analyzed", None), done.out
    stages = _stages(done.json)
    assert stages["analyze"] == "verified"
    assert {stages[name] for name in ("spec", "red", "green", "refactor", "deliver")} == {"skipped"}
    assert world.view("artifacts/phases/analyze/analysis.yaml")["findings"] == findings
    assert world.git("for-each-ref") == before
    assert world.git("worktree", "list").count("\n") == 0


def test_supplied_tests_are_verified_and_never_rewritten(world: World) -> None:
    given = world.home / "test_slugify.py"
    given.write_text(TEST_SLUGIFY)
    script = good_script(
        green=[
            reply(write("tests/test_slugify.py", "def test_slugify_lowers_and_hyphenates(): pass\n")),
            reply(ADD_SLUGIFY, IMPLEMENTED),
        ]
    )
    del script["red"]
    done = world.start(script, "--tests", str(given))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert world.git("show", f"{done.json['branch']}:tests/test_slugify.py") == TEST_SLUGIFY.strip()
    (refused,) = [row["data"] for row in world.events("ToolFinished") if row["data"]["name"] == "write_file"]
    assert (refused["status"], refused["error_type"]) == ("denied", "out-of-scope")
    assert {row["name"]: row["steps"] for row in done.json["stages"]}["red"] == 0


def test_a_call_that_is_not_approved_is_told_and_stands_in_the_result(world: World) -> None:
    script = good_script()
    script["green"].insert(
        0, reply(("shell", {"command": "ls && curl http://example.org"}), ("read_file", {"path": "../x"}))
    )
    done = world.start(script)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert [denial["tool"] for denial in done.json["permission_denials"]] == ["shell", "read_file"]
    assert "curl" in done.json["permission_denials"][0]["reason"]
