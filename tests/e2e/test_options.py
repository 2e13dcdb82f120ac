"""What `start` can be told: apply, base, uncommitted changes, limits, the form of the output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.loopback.provider import Say
from tests.support.world import REQUEST, TEXTKIT, analysis, good_script, intake, reply, submit

if TYPE_CHECKING:
    from tests.support.loopback.provider import LoopbackProvider
    from tests.support.world import Script, World


def _question() -> Script:
    """A request that ends after ANALYZE: everything of a run but the measurements."""
    return good_script(
        intake=[reply(submit(intake("analyze", examples=[])))], analyze=[reply(submit(analysis(findings=["it does"])))]
    )


def test_apply_brings_the_branch_into_the_checkout(world: World) -> None:
    done = world.start(None, "--apply")
    assert done.json["outcome"] == "delivered", done.out
    assert world.git("rev-parse", "main") == done.json["commit"]
    assert "def slugify" in (world.repo / "textkit.py").read_text()
    assert world.git("status", "--porcelain") == ""


def test_apply_never_overwrites_uncommitted_work(world: World) -> None:
    (world.repo / "textkit.py").write_text("mine = 1\n")
    done = world.start(None, "--apply")
    assert (done.code, done.json["error"]["slug"]) == (8, "conflict"), done.out
    assert (world.repo / "textkit.py").read_text() == "mine = 1\n"
    assert world.git("rev-parse", "main") == done.json["base_commit"]
    world.git("checkout", "-q", "--", "textkit.py")
    resumed = world.run("resume", world.task, "--json")
    assert resumed.json["outcome"] == "delivered", resumed.out
    assert world.git("rev-parse", "main") == resumed.json["commit"]


def test_base_starts_from_another_revision(world: World) -> None:
    first = world.git("rev-parse", "HEAD")
    (world.repo / "later.py").write_text("LATER = 1\n")
    world.commit_all("later")
    done = world.start(None, "--base", "HEAD~1")
    assert (done.json["outcome"], done.json["base_commit"]) == ("delivered", first), done.out
    assert "later.py" not in world.git("ls-tree", "--name-only", done.json["branch"])
    unknown = world.start(None, "--base", "nowhere")
    assert unknown.code == 2


def test_include_dirty_starts_from_the_files_as_they_are(world: World) -> None:
    head = world.git("rev-parse", "HEAD")
    (world.repo / "textkit.py").write_text(TEXTKIT + "\n\nEXTRA = 1\n")
    (world.repo / "new.py").write_text("NEW = 1\n")
    index = (world.repo / ".git" / "index").read_bytes()
    done = world.start(_question(), "--include-dirty")
    assert done.json["outcome"] == "analyzed", done.out
    base = done.json["base_commit"]
    assert world.git("rev-parse", f"{base}^") == head
    assert "EXTRA" in world.git("show", f"{base}:textkit.py")
    assert world.git("show", f"{base}:new.py") == "NEW = 1"
    assert (world.repo / ".git" / "index").read_bytes() == index
    assert world.git("rev-parse", "HEAD") == head


def test_a_dirty_tree_is_told_and_the_base_is_head(world: World) -> None:
    (world.repo / "textkit.py").write_text("broken(\n")
    done = world.run("start", REQUEST, "--model", world.model(_question()))
    assert done.code == 0, done.err
    assert "uncommitted" in done.out + done.err
    result = world.run("status", world.task, "--json").json
    assert result["base_commit"] == world.git("rev-parse", "HEAD")


def test_the_stream_is_one_event_a_line_and_ends_with_the_result(world: World) -> None:
    done = world.run("start", REQUEST, "--model", world.model(_question()), "--output-format", "stream-json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    events, last = lines[:-1], lines[-1]
    assert [line["type"] for line in events] == [record["type"] for record in world.events()]
    assert all(set(line) == {"type", "at", "stage", "step", "data"} for line in events)
    assert (last["type"], last["outcome"], last["task_id"]) == ("result", "analyzed", world.task)
    plain = world.run("status", world.task, "--json").json
    assert set(last) - {"type"} == set(plain)


def test_the_text_form_has_no_control_characters_when_it_is_no_terminal(world: World) -> None:
    done = world.run("start", REQUEST, "--model", world.model(_question()))
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\r" not in done.out
    assert "intake" in done.out
    assert "analyze" in done.out


def test_steps_run_out_and_resume_with_more_goes_on(world: World) -> None:
    done = world.start(None, "--max-steps", "2")
    assert (done.code, done.json["outcome"], done.json["steps"]) == (6, "paused", 2), done.out
    (asked,) = done.json["escalations"]
    assert (asked["kind"], asked["reason"].split(":")[0]) == ("limit", "max_steps")
    assert world.run("resume", world.task).code == 6
    resumed = world.run("resume", world.task, "--max-steps", "50", "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out
    assert resumed.json["steps"] == 5


@pytest.mark.parametrize(
    ("flag", "value", "more", "name"),
    [("--budget-tokens", "1500", "100000", "budget_tokens"), ("--deadline", "", "1h", "deadline")],
)
def test_other_limits_end_with_six_and_can_be_raised(world: World, flag: str, value: str, more: str, name: str) -> None:
    if not value:
        world.settings("[limits]\ndeadline = 0.01\n")
    done = world.start(_question(), *((flag, value) if value else ()))
    assert (done.code, done.json["outcome"]) == (6, "paused"), done.out
    assert done.json["escalations"][0]["reason"].split(":")[0] == name
    resumed = world.run("resume", world.task, flag, more, "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "analyzed"), resumed.out


def test_a_limit_can_be_approved_like_any_question(world: World) -> None:
    assert world.start(_question(), "--max-steps", "1").code == 6
    done = world.run("resolve", "E1", "--approve", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "analyzed"), done.out


def test_a_deadline_ends_a_reply_that_only_drips(world: World, loopback: LoopbackProvider) -> None:
    loopback.plan(Say(text="word " * 400, pieces=1, pause_s=0.1))
    env = {"BASE_URL": f"{loopback.url}/v1", "OPENAI_API_KEY": "k"}
    done = world.run("run", "hello", "--model", "custom/slow", "--deadline", "1", "--json", env=env)
    assert (done.code, done.json["outcome"]) == (6, "limit"), done.out + done.err
    assert len(loopback.asked) == 1
