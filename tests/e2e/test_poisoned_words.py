"""What a model can say that no path, command or text can hold: it is told so, the run goes on, and no record stops it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.world import (
    ADD_SLUGIFY,
    IMPLEMENTED,
    SLUGIFY_SUITE,
    TEST_SLUGIFY,
    good_script,
    intake,
    reply,
    specification,
    submit,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import Script, World

BAD = {"nul": "a\0b", "high": "a\ud800b", "low": "a\udc00b", "escaped-byte": "a\udcffb"}
CALLS = [
    ("read_file", {"path": "{}"}),
    ("write_file", {"path": "{}", "content": "x"}),
    ("write_file", {"path": "tests/test_x.py", "content": "{}"}),
    ("append_file", {"path": "{}", "content": "x"}),
    ("edit", {"path": "{}", "old_string": "x", "new_string": "y"}),
    ("edit", {"path": "textkit.py", "old_string": "shout", "new_string": "{}"}),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"}),
    ("grep", {"pattern": "{}"}),
    ("grep", {"pattern": "x", "path": "{}"}),
    ("glob", {"pattern": "{}"}),
    ("list_files", {"path": "{}"}),
    ("shell", {"command": "echo {}"}),
    ("run_tests", {"tests": ["{}"]}),
    ("no_such_{}", {"path": "x"}),
    ("read_file", {"{}": "x"}),
]


def _filled(value: Any, bad: str) -> Any:
    if isinstance(value, str):
        return value.replace("{}", bad)
    if isinstance(value, dict):
        return {_filled(key, bad): _filled(item, bad) for key, item in value.items()}
    return [_filled(item, bad) for item in value] if isinstance(value, list) else value


def _said(call: tuple[str, Any], bad: str) -> dict[str, Any]:
    """A reply with one call; its arguments are the JSON that names the sign, as a provider sends it."""
    name, arguments = call
    text = (
        bad.replace("\ud800", "").replace("\udc00", "").replace("\udcff", "")
    )  # a script is YAML, which has no halves
    return {"text": text, "tool_calls": [{"name": _filled(name, text), "raw": json.dumps(_filled(arguments, bad))}]}


def _poisoned(bad: str) -> Script:
    """Every stage says something that cannot be, then does its work."""
    named = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    return good_script(
        intake=[_said(submit(intake(goal="{}")), bad), reply(submit(intake()))],
        spec=[
            _said(submit(specification(criteria, named, title="{}")), bad),
            reply(submit(specification(criteria, named))),
        ],
        red=[
            *(_said(call, bad) for call in CALLS),
            reply(write("tests/test_slugify.py", TEST_SLUGIFY), submit(SLUGIFY_SUITE)),
        ],
        green=[
            *(_said(call, bad) for call in CALLS),
            _said(("ask_human", {"question": "{}"}), bad),
            reply(ADD_SLUGIFY, IMPLEMENTED),
        ],
    )


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_task_lives_through_whatever_its_model_says(world: World, bad: str) -> None:
    done = world.start(_poisoned(bad), "--max-steps", "200")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out[-3000:] + done.err[-3000:]
    told = [record["data"] for record in world.events("ToolFinished")]
    assert any(row["error_type"] == "malformed-arguments" for row in told)
    assert world.run("verify", world.task).code == 0
    assert world.run("inspect", world.task).code == 0


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_session_lives_through_whatever_its_model_says(world: World, bad: str) -> None:
    model = world.model({"chat": [*(_said(call, bad) for call in CALLS), {"text": "Done."}, {"text": "Again."}]})
    done = world.run("run", "say it", "--model", model, "--json")
    assert done.json["result"] == "Done.", done.out[-3000:] + done.err[-3000:]
    assert world.run("run", "--continue", "and now", "--model", model, "--json").json["result"] == "Again."
