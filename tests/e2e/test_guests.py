"""Stages that an agent of another maker does: in the sandbox, within the scope, judged as everybody else."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from agentforge_world import World, good_script

from agentforge.safety.boundary import unwrap
from agentforge.store.blobs import Blobs

AGENT = Path(__file__).with_name("guest_agent.py")


def let_in(world: World, mode: str, *more: str, stage: str = "green") -> str:
    """Write the user's own settings: an agent does a stage."""
    name = f"acp:python3 {shlex.quote(str(AGENT))} {mode}"
    folder = world.home / "af" / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text("\n".join([f"[stages.{stage}]", f"agent = {json.dumps(name)}", *more]))
    return name


def what_it_did(world: World) -> list[dict[str, Any]]:
    """What is recorded of the agent's work, call by call."""
    rows = [record["data"] for record in world.events("ToolFinished") if record["data"]["name"] == "agent"]
    blobs = Blobs(world.folder / "blobs")
    texts = [blobs.get(row["output"]).decode() if row["output"] else unwrap(row["text"]) for row in rows]
    return [json.loads(text) for text in texts]


def test_an_honest_agent_does_the_implementation_and_is_judged_the_same(world: World) -> None:
    name = let_in(world, "honest")
    script = {stage: replies for stage, replies in good_script().items() if stage != "green"}

    done = world.start(script)

    assert done.code == 0, done.err
    assert done.json["outcome"] == "delivered"
    assert "def slugify" in world.git("show", f"{done.json['branch']}:textkit.py")
    called = [record["data"] for record in world.events("ModelCalled") if record["data"]["stage"] == "green"]
    assert [row["model"] for row in called] == [name, name]
    (work,) = what_it_did(world)
    assert work["ended"] == "end_turn" and work["changed"] == [{"path": "textkit.py", "what": "changed"}]
    assert work["answer"] == "slugify is there."
    assert {update["sessionUpdate"] for update in work["updates"]} >= {"plan", "tool_call", "tool_call_update"}
    (began,) = [record["data"] for record in world.events("ToolStarted") if record["data"]["name"] == "agent"]
    assert "Stage GREEN" in began["arguments"]["prompt"] and "json block" in began["arguments"]["prompt"]
    assert next(row["tokens"] for row in done.json["stages"] if row["name"] == "green") == 1200
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task, "--json").code == 0


def test_a_cheating_agent_gets_nowhere(world: World) -> None:
    let_in(world, "cheat")
    before = world.git("status", "--porcelain")

    done = world.start(good_script(), "--stage-attempts", "2")

    assert done.code == 3, done.out
    assert done.json["outcome"] == "escalated" and done.json["escalations"][0]["kind"] == "stuck"
    works = what_it_did(world)
    assert len(works) == 2
    refused = {row["path"]: row["reason"] for row in works[0]["refused"]}
    assert set(refused) == {"tests/test_slugify.py", "conftest.py", "other.py"}
    assert works[0]["changed"] == []
    said = json.loads(works[0]["answer"])
    assert said["permissions"] == {"frozen test": "", "outside": "", "fetch": ""}
    assert said["tries"]["git"].startswith("refused") and said["tries"]["network"].startswith("refused")
    assert not (world.home / "left.txt").exists()
    assert world.git("status", "--porcelain") == before
    prompts = [r["data"]["arguments"]["prompt"] for r in world.events("ToolStarted") if r["data"]["name"] == "agent"]
    assert "refused and put back" in prompts[1] and "findings to repair" in prompts[1]


@pytest.mark.parametrize(
    ("mode", "more", "ended"), [("hang", 'agent_timeout = "3s"', "timeout"), ("chatty", "agent_calls = 7", "calls")]
)
def test_limits_end_an_agent_and_what_it_did_until_then_is_judged(
    world: World, mode: str, more: str, ended: str
) -> None:
    let_in(world, mode, more)

    done = world.start(good_script())

    assert done.json["outcome"] == "delivered", done.out
    (work,) = what_it_did(world)
    assert work["ended"] == ended


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("broken", "something went wrong in here"),
        ("old", "version 2 of the protocol"),
        ("login", "Authentication required"),
    ],
)
def test_an_agent_that_cannot_work_pauses_the_run_and_it_goes_on_with_one_that_can(
    world: World, mode: str, words: str
) -> None:
    let_in(world, mode)

    done = world.start(good_script())
    assert done.code == 7 and words in done.json["error"]["message"], done.out

    let_in(world, "honest")
    again = world.run("resume", world.task, "--json")
    assert again.json["outcome"] == "delivered", again.out


def test_an_agent_gets_the_variables_that_it_is_given_and_no_others(world: World) -> None:
    let_in(world, "spy", 'agent_env = ["GUEST_KEY"]')

    done = world.start(
        good_script(), env={"GUEST_KEY": "open-sesame-1234567890", "OPENAI_API_KEY": "sk-never-seen-0123456789"}
    )

    assert done.json["outcome"] == "delivered", done.out
    (work,) = what_it_did(world)
    assert '"secret": null' in work["answer"] and "sk-never" not in json.dumps(work)
    missing = world.start(good_script())
    assert missing.code == 2 and "GUEST_KEY is not set" in (missing.out + missing.err)


def test_a_project_may_name_an_agent_of_its_own_and_give_it_nothing(world: World) -> None:
    (world.repo / "tools").mkdir()
    (world.repo / "tools" / "agent.py").write_text(AGENT.read_text())
    world.settings('[stages.green]\nagent = "acp:python3 tools/agent.py honest"\n')

    done = world.start(good_script())
    assert done.json["outcome"] == "delivered", done.out + done.err

    for line, words in (
        ('agent = "acp:python3 /etc/passwd"', "outside of the repository"),
        ('agent = "acp:x"\nagent_network = "on"', "may not set stages.green.agent_network"),
        ('agent = "mcp:x"', "does not begin with acp:"),
        ('agent = "acp:x"\nagent_timeout = "soon"', "agent_timeout"),
    ):
        world.settings(f"[stages.green]\n{line}\n")
        refused = world.start(good_script())
        assert refused.code == 2 and words in refused.out + refused.err, refused.out + refused.err
