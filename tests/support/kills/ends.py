"""What a run comes to, however often it was killed on the way: the script of the killed runs, their end, what was done twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.world import good_script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.world import Script, World

_VOLATILE = frozenset({"intake_timestamp", "resolved_at", "duration_s", "commits", "commit", "duration_ms", "trail"})
_ONCE = ("StageStarted", "StageVerified", "StagePassed", "ArtifactSubmitted", "FactsGathered")


@dataclass(frozen=True, kw_only=True)
class End:
    """What a run comes to, without what depends on time.

    Attributes:
        tree: of the branch's commit.
        once: how often each stage was begun, submitted, measured, judged and passed.
    """

    tree: str
    subject: str
    artifacts: dict[str, Any]
    once: Counter[tuple[str, str]]


def script() -> Script:
    """A refactoring, because its guards need few test runs: with a step that reads and writes, and one of edits and a command."""
    from tests.support.world import IMPLEMENTED, edit, intake, reply, specification, submit, suite, write

    one = "from textkit import initials\n\n\ndef test_two_words():\n    assert initials('ab cd') == 'ac'\n"
    two = "\n\ndef test_one_word():\n    assert initials('ab') == 'a'\n"
    guards = (("test_two_words", "REQ-001.1", "guard"), ("test_one_word", "REQ-001.1", "guard"))
    symbol = {"name": "initials", "signature": "(text: str) -> str", "change": "changed"}
    return good_script(
        intake=[reply(submit(intake("refactor", examples=[])))],
        spec=[reply(submit(specification(["initials('ab cd') -> 'ac'"], symbol, title="Split initials")))],
        red=[
            reply(("read_file", {"path": "tests/test_textkit.py"}), write("tests/test_new.py", one)),
            reply(
                ("append_file", {"path": "tests/test_new.py", "content": two}),
                submit(suite("tests/test_new.py", *guards)),
            ),
        ],
        green=[
            reply(
                edit('    return "".join(word[0] for word in text', "    words = text"),
                edit("[:2])\n", '[:2]\n    return "".join(word[0] for word in words)\n'),
                ("shell", {"command": "echo '# The end.' >> textkit.py; echo 'x = 1' >> tests/test_new.py"}),
                IMPLEMENTED,
            )
        ],
    )


def end_of(world: World) -> End:
    """Read the end of the only task."""
    branch = f"agentforge/{world.task}"
    phases = sorted((world.folder / "artifacts" / "phases").glob("*/*.yaml"))
    return End(
        tree=world.git("rev-parse", f"{branch}^{{tree}}"),
        subject=world.git("log", "-1", "--format=%s", branch),
        artifacts={path.name: _lasting(yaml.safe_load(path.read_text("utf-8"))) for path in phases},
        once=Counter(
            (record["type"], str(record["data"].get("stage", record["data"].get("name"))))
            for record in world.events(*_ONCE)
        ),
    )


def differences(reached: End, wanted: End) -> Iterator[str]:
    """Say in what an end differs from another."""
    for name in ("tree", "subject", "artifacts", "once"):
        if getattr(reached, name) != getattr(wanted, name):
            yield f"{name}: {_difference(getattr(reached, name), getattr(wanted, name))}"


def repeated(world: World) -> Iterator[str]:
    """What was done although it was done already."""
    replies = Counter(record["data"]["step"] for record in world.events("ModelReplied"))
    tools = Counter((record["data"]["step"], record["data"]["index"]) for record in world.events("ToolFinished"))
    steps = Counter(record["data"]["step"] for record in world.events("StepFinished"))
    for name, counted in (("reply", replies), ("tool", tools), ("step", steps)):
        yield from (f"{name} {key} stands {count} times" for key, count in counted.items() if count > 1)
    done: set[int] = set()
    for record in world.events("ModelCalled", "ModelReplied"):
        step = record["data"]["step"]
        if record["type"] == "ModelReplied":
            done.add(step)
        elif step in done:
            yield f"step {step} was asked again"


def not_altered(world: World, when: str) -> Iterator[str]:
    """What `verify` takes for altered though nobody altered it."""
    done = world.run("verify", world.task, "--json")
    if done.code != 0:
        failed = [row for row in done.json["checks"] if not row["ok"]] if "checks" in done.json else done.json
        yield f"{when}: verify says {done.code}: {failed}"


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(item) for key, item in value.items() if key not in _VOLATILE}
    return [_lasting(item) for item in value] if isinstance(value, list) else value


def _difference(reached: Any, end: Any) -> str:
    if not isinstance(reached, dict) or not isinstance(end, dict):
        return f"{reached!r} instead of {end!r}"
    names = [name for name in {**reached, **end} if reached.get(name) != end.get(name)]
    return "; ".join(f"{name}: {_difference(reached.get(name), end.get(name))}" for name in names)
