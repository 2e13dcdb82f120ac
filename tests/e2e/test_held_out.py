"""Held-out checks on the whole way: seen by nobody after SPEC, and refused is what fails them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentforge.store.blobs import Blobs
from tests.support.world import IMPLEMENTED, SLUGIFY, edit, good_script, reply, specification, submit

if TYPE_CHECKING:
    from tests.support.world import Script, World

_SECRET = {"zebra crossing": "zebra-crossing", "QUAGGA  herd": "quagga-herd"}
_EXAMPLES = [
    {"requirement": "REQ-001", "call": f"slugify({text!r})", "returns": repr(slug)} for text, slug in _SECRET.items()
]


def _script(implementation: str, examples: list[dict[str, str]] = _EXAMPLES) -> Script:
    slugify = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    change = edit("    return text.lower()\n", f"    return text.lower()\n{implementation}")
    return good_script(
        spec=[reply(submit(specification(criteria, slugify, examples=examples)))], green=[reply(change, IMPLEMENTED)]
    )


def _facts(world: World, name: str) -> dict[str, Any]:
    return dict(next(row["facts"] for row in _data(world, "FactsGathered") if row["name"] == name))


def _data(world: World, kind: str) -> list[dict[str, Any]]:
    return [record["data"] for record in world.events(kind)]


def test_examples_are_split_and_the_held_out_ones_reach_no_later_stage(world: World) -> None:
    done = world.start(_script(SLUGIFY))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    rows = _facts(world, "spec")["claims"]["rows"]
    (hidden,) = [text for text, row in zip(_SECRET, rows, strict=True) if row["hidden"]]
    assert _facts(world, "green")["held_out"] == {"checked": 3, "failed": [], "unchecked": [], "notes": []}
    calls = {record["stage"]: record["request"] for record in _data(world, "ModelCalled")}
    blobs = Blobs(world.folder / "blobs")
    told = {stage: blobs.get(digest).decode() for stage, digest in calls.items()}
    assert {"red", "green"} <= set(told)
    assert not [stage for stage in ("red", "green", "refactor") if hidden in told.get(stage, "")]
    (shown,) = set(_SECRET) - {hidden}
    assert shown in told["red"]


LYING = {
    "table": '\n\ndef slugify(text: str) -> str:\n    """Give a slug."""\n    return {"Hello World": "hello-world", "A": "a"}.get(text, "")\n',
    "equals anything": '\n\nclass _Slug(str):\n    def __eq__(self, other: object) -> bool:\n        return bool(str(other)) or True\n\n'
    '    __hash__ = str.__hash__\n\n\ndef slugify(text: str) -> str:\n    """Give a slug."""\n    return _Slug(text)\n',
    "only under the runner": '\n\ndef slugify(text: str) -> str:\n    """Give a slug."""\n    import sys\n\n'
    '    known = "py" + "test" in sys.modules\n    return "-".join(text.lower().split()) if known else text\n',
}  # fmt: skip


@pytest.mark.parametrize(
    ("trick", "examples"),
    [("table", _EXAMPLES), ("table", []), ("equals anything", []), ("only under the runner", [])],
    ids=["table against held-out checks", "table", "equals anything", "only under the runner"],
)
def test_what_satisfies_the_tests_alone_is_refused_and_the_held_out_input_is_not_told(
    world: World, trick: str, examples: list[dict[str, str]]
) -> None:
    done = world.start(_script(LYING[trick], examples), "--stage-attempts", "1")
    assert done.code == 3, done.out
    (verdict,) = [record for record in _data(world, "StageVerified") if record["stage"] == "green"]
    broken = {row["rule"]: row["message"] for row in verdict["results"] if not row["passed"]}
    assert "held-out" in broken and "suite-passes" not in broken, broken
    rows = _facts(world, "spec")["claims"]["rows"]
    assert not [row["call"] for row in rows if row["hidden"] and row["call"] in str(broken)]


def test_an_example_that_cannot_be_checked_is_dropped_and_told(world: World) -> None:
    done = world.start(_script(SLUGIFY, [{"call": "slugify('a')", "returns": "a"}]), "--stage-attempts", "1")
    assert done.code == 0, done.err
    (verdict,) = [row for row in _data(world, "StageVerified") if row["stage"] == "spec"]
    (repair,) = verdict["repairs"]
    assert "slugify('a')" in repair["message"] and not verdict["artifact"].get("examples")


@pytest.mark.parametrize("hidden", [True, False], ids=["held out", "in the request"])
def test_a_check_that_a_human_calls_wrong_counts_no_more(world: World, hidden: bool) -> None:
    wrong = {"requirement": "REQ-001", "call": "slugify('Two  Gaps')", "returns": "'two--gaps'"}
    script = _script(SLUGIFY, [wrong] if hidden else [])
    script["green"].append(reply(IMPLEMENTED))
    more = "" if hidden else " It must hold: slugify('Two  Gaps') == 'two--gaps'."
    request = f"Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'.{more}"
    done = world.start(script, "--stage-attempts", "1", request=request)
    assert done.code == 3, done.out
    (asked,) = done.json["escalations"]
    (choice,) = [one for one in asked["choices"] if "Two  Gaps" in one["label"]]
    assert choice["label"] == "the check of slugify('Two  Gaps') is wrong", asked["choices"]
    done = world.run("resolve", "E1", "--answer", choice["label"], "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out
    assert "is wrong" in str(world.run("audit", world.task).out) and world.run("verify", world.task).code == 0
