"""Deleting, moving and other signatures through the real command line: the tree writes, no model is asked, all rules judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.world import World

SMALL = '[model]\nprofile = "small"\n'
CALLER = "from textkit import initials, shout\n\n\ndef greet(name: str) -> str:\n    return shout(text=name) + initials(name)\n"
TEST = 'from caller import greet\n\n\ndef test_greet():\n    assert greet("ann bee") == "ANN BEE!ab"\n'


def _project(world: World) -> None:
    world.settings(SMALL)
    (world.repo / "caller.py").write_text(CALLER)
    (world.repo / "tests" / "test_caller.py").write_text(TEST)
    mumbling = 'from textkit import mumble\n\n\ndef test_mumble():\n    assert mumble("A") == "a"\n'
    (world.repo / "tests" / "test_mumble.py").write_text(mumbling)
    world.commit_all("A caller")


def _delivered(world: World, request: str) -> str:
    done = world.start({"green": []}, request=request)
    assert done.code == 0, done.out + done.err
    assert done.json["llm_calls"] == 0
    return world.git("diff", "main", done.json["branch"])


def test_a_deletion_takes_its_tests_along_and_leaves_what_is_used(world: World) -> None:
    _project(world)
    refused = world.start({"green": []}, request="Delete initials from textkit")
    assert refused.code == 3
    assert "still used: caller.py:5" in refused.json["escalations"][0]["reason"]
    diff = _delivered(world, "Delete the mumble function")
    assert "-def mumble(text: str) -> str:" in diff and "deleted file mode" in diff and "-def test_mumble" in diff


def test_a_wish_besides_the_change_is_asked_about_and_never_dropped(world: World) -> None:
    _project(world)
    asked = world.start({"green": []}, request="Delete mumble from textkit.py, and keep mumble('A') returning 'a'.")
    assert asked.code == 3
    question = asked.json["escalations"][0]
    assert "keep mumble('A') returning 'a'" in question["question"] and question["options"] == ["only the change"]
    assert world.git("branch", "--list", "agentforge/*") == ""


def test_a_move_is_followed_by_everybody_who_imports_it(world: World) -> None:
    _project(world)
    diff = _delivered(world, "Move shout from textkit to a new module voice")
    assert "the same" in world.run("replay", world.task).out
    assert "+from voice import shout" in diff and "+++ b/voice.py" in diff and "+++ b/tests/test_textkit.py" in diff


def test_a_parameter_gets_another_name_where_it_is_passed_by_it(world: World) -> None:
    _project(world)
    diff = _delivered(world, "Rename the parameter text of shout to words")
    assert "+    return words.upper()" in diff and "+    return shout(words=name)" in diff


def test_what_stands_in_two_places_is_asked_about_and_the_answer_is_taken(world: World) -> None:
    _project(world)
    (world.repo / "spare.py").write_text(
        "def mumble(text: str) -> str:\n    return text\n\n\ndef keep() -> int:\n    return 1\n"
    )
    world.commit_all("Another mumble")
    asked = world.start({"green": []}, request="Delete mumble")
    assert asked.code == 3
    assert asked.json["escalations"][0]["options"] == ["mumble (spare.py)", "mumble (textkit.py)"]
    world.run("resolve", f"{world.task}.E1", "--answer", "1")
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.out + done.err
    assert "mumble" not in world.git("show", f"{done.json['branch']}:spare.py")
    assert "mumble" in world.git("show", f"{done.json['branch']}:textkit.py")
