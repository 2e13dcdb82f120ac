"""A golden run killed at its durable writes and resumed ends like the run that nobody killed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from agentforge_world import REQUEST, good_script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentforge_world import Script, World
    from tests.chaos.conftest import NewWorld

_KILLED = Path(__file__).with_name("killed.py")
_MODES = ("torn", "written", "synced")
_VOLATILE = frozenset({"intake_timestamp", "duration_s", "commits", "commit", "duration_ms", "trail"})
_ONCE = ("StageStarted", "StageVerified", "StagePassed", "ArtifactSubmitted", "FactsGathered")
_SAMPLED = 12


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


@pytest.fixture(scope="session")
def golden(new_world: NewWorld) -> tuple[End, int]:
    """The run that nobody killed, and the number of its durable writes."""
    world = new_world()
    done = world.start(_script())
    assert done.code == 0, done.out + done.err
    return _end(world), done.json["trail"]["records"]


def test_a_run_killed_at_a_sample_of_its_writes_ends_the_same(golden: tuple[End, int], new_world: NewWorld) -> None:
    end, records = golden
    points = [2 + (records - 2) * number // (_SAMPLED - 1) for number in range(_SAMPLED)]
    failures = [
        f"{point}: {problem}"
        for number, point in enumerate(points)
        for problem in _killed_at(point, _MODES[number % 3], end, new_world(), again=number % 4 == 1)
    ]
    assert failures == []


@pytest.mark.chaos
@pytest.mark.parametrize("mode", _MODES)
def test_a_run_killed_at_every_write_ends_the_same(mode: str, golden: tuple[End, int], new_world: NewWorld) -> None:
    end, records = golden
    failures = [
        f"{point}: {problem}"
        for point in range(2, records + 1)
        for problem in _killed_at(point, mode, end, new_world(), again=point % 3 == 0)
    ]
    assert failures == []


def test_a_run_killed_in_its_first_record_can_be_started_again(new_world: NewWorld) -> None:
    world = new_world()
    _kill(world, 1, "torn", "start", REQUEST, "--model", world.model(_script()))
    broken = world.task
    done = world.run("resume", broken, "--json")
    assert (done.code, done.json["error"]["slug"]) == (9, "integrity")
    assert world.run("status", "--json").json[0]["outcome"] == "damaged"
    done = world.start(_script())
    assert done.json["outcome"] == "delivered", done.out
    assert done.json["task_id"] != broken


def _script() -> Script:
    """A refactoring, because its guards need few test runs: with a step that reads and writes, and one of edits and a command."""
    from agentforge_world import IMPLEMENTED, edit, intake, reply, specification, submit, suite, write

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


def _killed_at(point: int, mode: str, end: End, world: World, *, again: bool) -> Iterator[str]:
    """Kill, resume (after a second kill), and say in what the end differs."""
    _kill(world, point, mode, "start", REQUEST, "--model", world.model(_script()))
    if again:
        _kill(world, 4, mode, "resume", world.task)
    done = world.run("resume", world.task, "--json")
    if done.code == 8 and done.json["error"]["slug"] == "conflict":  # the last record was already there
        done = world.run("status", world.task, "--json")
    if done.code != 0:
        yield f"{mode}: exit {done.code}: {done.out[-600:]} {done.err}"
        return
    reached = _end(world)
    for name in ("tree", "subject", "artifacts", "once"):
        if getattr(reached, name) != getattr(end, name):
            yield f"{mode}: {name}: {_difference(getattr(reached, name), getattr(end, name))}"
    yield from _repeated(world)
    if shown := world.git("worktree", "prune", "--dry-run"):
        yield f"{mode}: {shown}"


def _repeated(world: World) -> Iterator[str]:
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


def _kill(world: World, point: int, mode: str, *arguments: str) -> None:
    """Run until the kill point; a run that ends before it is no failure of the run."""
    process = subprocess.run(
        [sys.executable, str(_KILLED), str(point), mode, *arguments], cwd=world.repo, env=world.env, capture_output=True
    )
    assert process.returncode in (-9, 0, 8), process.stderr.decode()


def _end(world: World) -> End:
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


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(item) for key, item in value.items() if key not in _VOLATILE}
    return [_lasting(item) for item in value] if isinstance(value, list) else value


def _difference(reached: Any, end: Any) -> str:
    if not isinstance(reached, dict) or not isinstance(end, dict):
        return f"{reached!r} instead of {end!r}"
    names = [name for name in {**reached, **end} if reached.get(name) != end.get(name)]
    return "; ".join(f"{name}: {_difference(reached.get(name), end.get(name))}" for name in names)
