"""Stages that an agent of another maker does: in the sandbox, within the scope, judged as everybody else."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from agentforge.safety.text.hygiene import unwrap
from agentforge.store.blobs import Blobs
from tests.support.world import World, good_script, own_settings

AGENT = Path(__file__).parents[1] / "support" / "guest_agent.py"


def let_in(world: World, **modes: str) -> None:
    """Write the user's own settings: agents do stages."""
    lines = [
        line for stage, mode in modes.items() for line in (f"[stages.{stage}]", f"agent = {json.dumps(name_of(mode))}")
    ]
    own_settings(world.home, "".join(f"{line}\n" for line in lines))


def name_of(mode: str) -> str:
    return f"acp:python3 {shlex.quote(str(AGENT))} {mode}"


def what_it_did(world: World) -> list[dict[str, Any]]:
    """What is recorded of the agent's work, call by call."""
    rows = [record["data"] for record in world.events("ToolFinished") if record["data"]["name"] == "agent"]
    blobs = Blobs(world.folder / "blobs")
    texts = [blobs.get(row["output"]).decode() if row["output"] else unwrap(row["text"]) for row in rows]
    return [json.loads(text) for text in texts]


def test_an_honest_agent_does_the_implementation_and_is_judged_the_same(world: World) -> None:
    let_in(world, analyze="analyst", green="honest")
    script = {stage: replies for stage, replies in good_script().items() if stage not in ("analyze", "green")}

    done = world.start(script)

    assert done.code == 0, done.err
    assert done.json["outcome"] == "delivered"
    assert "def slugify" in world.git("show", f"{done.json['branch']}:textkit.py")
    called = [record["data"] for record in world.events("ModelCalled") if record["data"]["stage"] == "green"]
    assert [row["model"] for row in called] == [name_of("honest")] * 2
    look, work = what_it_did(world)
    assert look["changed"] == [] and look["refused"] == []
    assert work["ended"] == "end_turn" and work["changed"] == [{"path": "textkit.py", "what": "changed"}]
    assert work["answer"] == "slugify is there."
    assert {update["sessionUpdate"] for update in work["updates"]} >= {"plan", "tool_call", "tool_call_update"}
    *_, began = [record["data"] for record in world.events("ToolStarted") if record["data"]["name"] == "agent"]
    assert "Stage GREEN" in began["arguments"]["prompt"] and "json block" in began["arguments"]["prompt"]
    assert next(row["tokens"] for row in done.json["stages"] if row["name"] == "green") == 1200
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task, "--json").code == 0


def test_a_cheating_agent_gets_nowhere(world: World) -> None:
    let_in(world, green="cheat")
    before = world.git("status", "--porcelain")

    done = world.start(good_script(), "--stage-attempts", "2")

    assert done.code == 3, done.out
    assert done.json["outcome"] == "escalated" and done.json["escalations"][0]["kind"] == "stuck"
    works = what_it_did(world)
    assert len(works) == 2
    refused = {row["path"]: row["reason"] for row in works[0]["refused"]}
    assert set(refused) == {"tests/test_slugify.py", "conftest.py", "other.py"}
    assert works[0]["changed"] == []
    told, tries = (json.loads(line) for line in works[0]["answer"].splitlines())
    assert told == {"frozen test": "", "outside": "", "fetch": ""}
    assert tries["git"].startswith("refused") and tries["network"].startswith("refused")
    assert not (world.home / "left.txt").exists()
    assert world.git("status", "--porcelain") == before
    prompts = [r["data"]["arguments"]["prompt"] for r in world.events("ToolStarted") if r["data"]["name"] == "agent"]
    assert "refused and put back" in prompts[1] and "findings to repair" in prompts[1]


def test_an_agent_that_cannot_work_pauses_the_run_and_it_goes_on_with_one_that_can(world: World) -> None:
    let_in(world, green="broken")

    done = world.start(good_script())
    assert done.code == 7 and "something went wrong in here" in done.json["error"]["message"], done.out

    world.settings('[stages.green]\nagent = "acp:python3 tools/agent.py honest"\n')
    own_settings(world.home, "")
    (world.repo / "tools").mkdir()
    (world.repo / "tools" / "agent.py").write_text(AGENT.read_text())  # the project's own, which no commit holds yet
    again = world.run("resume", world.task, "--json")
    assert again.json["outcome"] == "delivered", again.out
    assert "tools/agent.py" not in world.git("ls-tree", "-r", "--name-only", again.json["branch"])
