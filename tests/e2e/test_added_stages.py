"""Stages from outside: the examples take part in a delivery, what writes is judged like code, and a change is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.world import edit, good_script, own_settings, reply, submit, write

if TYPE_CHECKING:
    from tests.support.world import Script, World

EXAMPLES = Path(__file__).parents[2] / "examples" / "stage"
_NEWS = "# Changes\n\n## Unreleased\n- slugify(text) makes slugs\n"
_THREATS = {
    "summary": "the text comes from anybody",
    "threats": [{"input": "text", "effect": "a slug with a slash", "countermeasure": "join words by hyphens"}],
}


def _script(**replaced: list[object]) -> Script:
    line = {"line": "slugify(text) makes slugs"}
    others = {
        "threat_model": [reply(submit(_THREATS))],
        "changelog": [reply(write("CHANGELOG.md", _NEWS), submit(line))],
    }
    return good_script(**{**others, **replaced})  # type: ignore[arg-type] # replies by stage


def _put(world: World, name: str, folder: str = "stages") -> Path:
    target = world.repo / ".agentforge" / folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(EXAMPLES / name, target)
    return target


def _with_reader(world: World) -> Path:
    _put(world, "threat_model.yaml", "contracts")
    file = _put(world, "threat_model.py")
    assert world.run("trust", ".", "--yes").code == 0
    return file


def test_the_examples_take_part_in_a_delivery_that_can_be_replayed_and_verified(world: World) -> None:
    refused = _put(world, "threat_model.py")
    assert world.start(_script()).json["error"]["slug"] == "untrusted"
    refused.unlink()
    _with_reader(world)
    own = world.home / "af" / "config" / "stages"
    own.mkdir(parents=True)
    shutil.copy(EXAMPLES / "changelog.py", own)
    listed = {row["name"]: row["from"] for row in world.run("stages", "--json").json}
    assert [*listed][4] == "threat_model"
    assert listed["changelog"] == str(own / "changelog.py")
    done = world.start(_script(), "--approve", "threat_model")
    assert (done.code, done.json["escalations"][0]["stage"]) == (3, "threat_model"), done.err
    done = world.run("resolve", "E1", "--approve", "--resume", "--json")
    assert done.json["outcome"] == "delivered", done.out + done.err
    assert world.git("show", f"{done.json['branch']}:CHANGELOG.md") == _NEWS.strip()
    assert world.view("artifacts/phases/changelog/changelog.yaml")["changed"] == ["CHANGELOG.md"]
    order = [event["data"]["stage"] for event in world.events("StagePassed")]
    assert order == [
        "intake",
        "clarify",
        "analyze",
        "spec",
        "threat_model",
        "red",
        "green",
        "changelog",
        "refactor",
        "deliver",
    ]
    (started,) = world.events("RunStarted")
    assert [row["name"] for row in started["data"]["added"]] == ["changelog", "threat_model"]
    green = next(event for event in world.events("StageStarted") if event["data"]["stage"] == "green")
    assert b"join words by hyphens" in _blob(world, green["data"]["material"])
    (asked,) = [event["data"] for event in world.events("ModelCalled") if event["data"]["stage"] == "changelog"]
    context = _blob(world, asked["request"])
    assert b"the change so far (measured)" in context and b"your changes so far" not in context
    shown = world.run("inspect", world.task, "--show", "stages", "--json").json
    assert next(row for row in shown if row["stage"] == "changelog")["text"] == (EXAMPLES / "changelog.py").read_text()
    replayed = world.run("replay", world.task, "--json")
    assert replayed.code == 0, replayed.out
    verified = world.run("verify", world.task)
    assert verified.code == 0, verified.out
    assert "changelog, threat_model were made by a stage from outside" in verified.out
    shutil.rmtree(own)
    assert "the stage changelog" in world.run("replay", world.task).err
    assert world.run("verify", world.task, "--rerun").code == 0


def _blob(world: World, digest: str) -> bytes:
    from agentforge.store.blobs import Blobs

    return Blobs(world.folder / "blobs").get(digest)


def test_what_a_stage_writes_is_judged_by_all_rules_of_refactor_and_stays_in_its_files(world: World) -> None:
    text = (EXAMPLES / "changelog.py").read_text().replace('files=("CHANGELOG.md",)', 'files=("*.md", "textkit.py")')
    file = _put(world, "changelog.py")
    file.write_text(text.replace("    min_items: 1\n    items: {const: CHANGELOG.md}\n", ""))
    world.run("trust", ".", "--yes")
    line = submit({"line": "slugify(text) makes slugs"})
    broken = edit('return "-".join(text.lower().split())', 'return "_".join(text.lower().split())')
    script = _script(
        changelog=[reply(broken, line), reply(write("tests/test_more.py", "def test_x(): pass\n"), line), reply(line)]
    )
    done = world.start(script, "--max-steps", "8")
    verdicts = [event["data"] for event in world.events("StageVerified") if event["data"]["stage"] == "changelog"]
    failed = {row["rule"] for row in verdicts[0]["results"] if not row["passed"]}
    assert {"suite-passes"} <= failed, failed
    refused = [event["data"] for event in world.events("ToolFinished") if event["data"]["name"] == "write_file"]
    assert refused[-1]["status"] != "success"
    assert "is a test" in refused[-1]["text"]
    assert not done.json.get("branch")


def test_a_stage_that_changed_or_went_stops_the_run_until_somebody_takes_it(world: World) -> None:
    file = _with_reader(world)
    world.start(_script(), "--approve", "spec")
    text = file.read_text()
    file.write_text(text.replace("No threat is an answer", "Nothing is an answer"))
    assert world.run("resolve", "E1", "--approve", "--json").code == 0
    assert "untrusted" in world.run("resume", world.task, "--json").out
    world.run("trust", ".", "--yes")
    told = world.run("resume", world.task, "--json").json["error"]
    assert "is not what it was when" in told["message"]
    assert "--accept-changed-stages" in told["hint"]
    away = file.rename(world.home / file.name)
    assert "is gone: it came from .agentforge/stages/threat_model.py" in world.run("resume", world.task).err
    away.rename(file)
    done = world.run("resume", world.task, "--accept-changed-stages", "--json")
    assert done.json["outcome"] == "delivered", done.out
    assert world.run("verify", world.task).code == 0
    (taken,) = [event["data"]["added"] for event in world.events("RunResumed") if event["data"]["added"]]
    assert taken[0]["digest"] != world.events("RunStarted")[0]["data"]["added"][0]["digest"]


def test_a_recording_of_a_run_answers_in_the_place_of_the_model(world: World) -> None:
    own_settings(world.home, "")
    assert world.start().json["outcome"] == "delivered"
    first = world.task
    replies = world.home / "replies.jsonl"
    assert world.run("export", first, "--format", "recording", "-o", str(replies)).code == 0
    assert [json.loads(line)["key"]["stage"] for line in replies.read_text().splitlines()][:2] == ["intake", "analyze"]
    again = world.run("start", "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'",
                      "--model", f"recorded/{replies}", "--json")  # fmt: skip
    assert again.json["outcome"] == "delivered", again.out
    tree = world.git("rev-parse", f"agentforge/{first}^{{tree}}")
    assert world.git("rev-parse", f"{again.json['branch']}^{{tree}}") == tree
    assert "no task was named" in world.run("export", "--format", "recording").err
