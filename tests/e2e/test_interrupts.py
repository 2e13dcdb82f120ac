"""Ctrl-C at several moments, and a second process on the same run: state kept, no child left, resume goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.loopback.provider import Say
from tests.support.world import EXIT_LIMIT, REQUEST, analysis, children_below, good_script, intake, reply, submit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.loopback.provider import Asked, LoopbackProvider
    from tests.support.world import Script, World

_STREAM = ("--output-format", "stream-json")


@pytest.fixture
def held(loopback: LoopbackProvider) -> Iterator[threading.Event]:
    """A provider that says nothing until the event is set; `loopback.asked` tells when it was asked."""
    release = threading.Event()

    def answer(_asked: Asked) -> Say:
        release.wait(30)
        return Say(text="late")

    loopback.answer = answer
    yield release
    release.set()


def _until(process: subprocess.Popen[bytes], kind: str, name: str = "") -> None:
    """Read the stream up to an event."""
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == kind and name in ("", event["data"].get("name"), event["data"].get("stage")):
            return
    raise AssertionError(f"no {kind} {name}: {process.stderr.read() if process.stderr else ''!r}")


def _interrupted(process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGINT) -> dict[str, Any]:
    """Send the signal and wait; returns the last line of the stream."""
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (process.returncode, err.decode())
    assert "Traceback" not in err.decode()
    return dict(json.loads(out.decode().splitlines()[-1]))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("RunStarted", ""),
        ("ModelCalled", ""),
        ("ArtifactSubmitted", "intake"),
        ("StageStarted", "red"),
        ("ToolStarted", "write_file"),
        ("ArtifactSubmitted", "green"),
        ("FactsGathered", "deliver"),
    ],
)
def test_ctrl_c_keeps_the_state_and_resume_delivers(world: World, kind: str, name: str) -> None:
    process = world.begin("start", REQUEST, "--model", world.model(), *_STREAM)
    _until(process, kind, name)
    last = _interrupted(process)
    assert last["task_id"] == world.task
    assert last["error"]["slug"] == "interrupted"
    assert children_below(world.repo) == []
    assert world.run("status", world.task, "--json").json["outcome"] == "paused"
    resumed = world.run("resume", world.task, "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err
    assert resumed.json["llm_calls"] in (5, 6)
    finished = [record["data"]["step"] for record in world.events("StepFinished")]
    assert finished == [1, 3, 4, 5, 6]


def test_ctrl_c_during_a_model_call(world: World, loopback: LoopbackProvider, held: threading.Event) -> None:
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "none"}
    process = world.begin("start", REQUEST, "--model", "custom/m", *_STREAM, env=env)
    _until(process, "ModelCalled")
    last = _interrupted(process)
    assert last["error"]["hint"] == f"state kept; go on with: agentforge resume {world.task}"
    resumed = world.run("resume", world.task, "--model", world.model(), "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_during_a_test_run_kills_the_tests(world: World, number: signal.Signals) -> None:
    slow = "import os\nimport time\n\n\ndef test_slow():\n    time.sleep(float(os.environ['NAP']))\n"
    (world.repo / "tests" / "test_slow.py").write_text(slow)
    world.commit_all("slow")
    world.settings('[test]\nenv = {NAP = "60"}\n')
    process = world.begin("start", REQUEST, "--model", world.model(_question()), *_STREAM)
    _until(process, "StagePassed", "clarify")
    _wait_for_child(world)
    _interrupted(process, number)
    assert children_below(world.repo) == []
    scratch = list((world.home / "af/data/worktrees").rglob("checkout-*"))
    assert scratch == []
    world.settings('[test]\nenv = {NAP = "0"}\n')
    resumed = world.run("resume", world.task, "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "analyzed"), resumed.out + resumed.err


def test_the_deadline_ends_a_test_run_and_the_run_goes_on_with_more_time(world: World) -> None:
    slow = "import os\nimport time\n\n\ndef test_slow():\n    time.sleep(float(os.environ['NAP']))\n"
    (world.repo / "tests" / "test_slow.py").write_text(slow)
    world.commit_all("slow")
    world.settings('[test]\nenv = {NAP = "250"}\n')
    stopped = world.start(_question(), "--deadline", "8s")
    assert stopped.code == EXIT_LIMIT, stopped.out + stopped.err
    (asked,) = world.events("EscalationRaised")
    assert asked["data"]["kind"] == "limit"
    assert asked["data"]["context"] == {"measuring": "baseline"}
    assert children_below(world.repo) == []
    assert list((world.home / "af/data/worktrees").rglob("checkout-*")) == []
    world.settings('[test]\nenv = {NAP = "0"}\n')
    resumed = world.run("resume", world.task, "--deadline", "+10m", "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "analyzed"), resumed.out + resumed.err
    replayed = world.run("replay", world.task)
    assert replayed.code == 0, replayed.out + replayed.err


def test_a_second_process_on_a_run_is_refused(world: World, loopback: LoopbackProvider, held: threading.Event) -> None:
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "none"}
    process = world.begin("start", REQUEST, "--model", "custom/m", *_STREAM, env=env)
    _until(process, "ModelCalled")
    for command in ("resume", "abort"):
        done = world.run(command, world.task, "--json")
        assert (done.code, done.json["error"]["slug"]) == (8, "locked"), done.out
        assert str(process.pid) in done.err
    shown = world.run("status", world.task, "--json")
    assert shown.json["outcome"] == "running"
    before = len(world.events())
    _interrupted(process)
    assert len(world.events()) == before + 1


def test_a_terminal_that_hangs_up_ends_like_ctrl_c(world: World) -> None:
    process = world.begin("start", REQUEST, "--model", world.model(good_script()), *_STREAM)
    _until(process, "StageStarted", "red")
    _interrupted(process, signal.SIGHUP)
    assert world.run("resume", world.task, "--json").json["outcome"] == "delivered"


def _question() -> Script:
    """A request that ends after ANALYZE."""
    return good_script(
        intake=[reply(submit(intake("analyze", examples=[])))], analyze=[reply(submit(analysis(findings=["it does"])))]
    )


def _wait_for_child(world: World) -> None:
    """Wait until the test run's processes are there."""
    pause = threading.Event()
    for _ in range(400):
        if any("pytest" in line or "testing/programs" in line for line in children_below(world.repo)):
            return
        pause.wait(0.02)
    raise AssertionError(f"no test run was begun: {children_below(world.repo)}")
