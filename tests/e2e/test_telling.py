"""People are told of a question once, reminded, and held to a deadline; a way that fails harms nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.world import REQUEST, own_settings

if TYPE_CHECKING:
    from tests.support.world import World

_SECRET = "sk-ant-api03-" + "Zx8Qv2Lm" * 11


def _settings(world: World, text: str) -> None:
    own_settings(world.home, f"[notify]\n{text}\n")


def _inbox(world: World, more: str = "") -> Path:
    """A program that appends every message to a file."""
    inbox = world.home / "inbox"
    _settings(world, f"""command = ["sh", "-c", "cat >> '{inbox}'"]\n{more}""")
    return inbox


def _messages(inbox: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in inbox.read_text("utf-8").splitlines()] if inbox.exists() else []


def test_a_question_is_told_once_with_what_answers_it(world: World) -> None:
    inbox = _inbox(world, 'link = "http://127.0.0.1:8765"\ndeadline = "24h"\ndeadline_decision = "reject"\n')
    waiting = world.start(None, "--approve", "spec", request=f"{REQUEST}. The key is {_SECRET}")
    assert waiting.code == 3, waiting.out + waiting.err
    (first,) = _messages(inbox)
    assert (first["about"], first["notice"], first["task_id"]) == ("E1", "first", world.task)
    body = str(first["body"])
    assert f"agentforge resolve {world.task}.E1 --approve --resume" in body
    assert "it is rejected" in body and str(world.repo) in body and "stage spec is verified" in body
    assert str(first["link"]).startswith("http://127.0.0.1:8765/answer?token=")
    assert _SECRET not in inbox.read_text() + (world.folder / "events.jsonl").read_text()
    token = str(first["link"]).partition("token=")[2]
    assert token not in (world.folder / "events.jsonl").read_text()
    assert world.run("notify", "--json").json == []
    assert world.run("resume", world.task).code == 3
    assert len(_messages(inbox)) == 1, "nobody is told twice"

    done = world.run("resolve", f"{world.task}.E1", "--approve", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert [item["about"] for item in _messages(inbox)] == ["E1", "delivered"]
    assert [row["data"]["about"] for row in world.events("NotificationSent")] == ["E1", "delivered"]
    assert world.run("verify", world.task).code == 0
    assert world.run("replay", world.task).code == 0


def test_a_way_that_fails_harms_nothing_and_is_tried_again(world: World) -> None:
    _settings(world, 'webhook = "http://127.0.0.1:1/hook"\nwebhook_secret = "HOOK_SECRET"\n')
    waiting = world.start(None, "--max-steps", "1", env={"HOOK_SECRET": "hush-hush-hush"})
    assert waiting.code == 6
    (failed,) = world.events("NotificationSent")
    assert failed["data"]["channel"] == "webhook" and "does not answer" in failed["data"]["error"]
    assert "hush-hush" not in (world.folder / "events.jsonl").read_text()
    inbox = _inbox(world)
    (tried,) = world.run("notify", "--json").json
    assert (tried["notice"], tried["channel"], tried["error"]) == ("first", "command", None)
    (told,) = _messages(inbox)
    assert f"agentforge resume {world.task} --max-steps +N" in str(told["body"])


def test_quiet_hours_hold_back_reminders_come_and_deadlines_pass(world: World) -> None:
    inbox = _inbox(world, 'quiet_hours = "00:00-23:59"\n')
    assert world.start(None, "--approve", "spec", env={"TZ": "UTC"}).code == 3
    assert _messages(inbox) == []
    _inbox(world, 'remind_after = "0.01s"\ndeadline = "0.01s"\n')
    assert world.run("notify", "--json").json[0]["notice"] == "first", "no deadline passes before somebody was told"
    _inbox(world, 'remind_after = "0.01s"\n')
    assert world.run("notify", "--json").json[0]["notice"] == "reminder"
    assert [item["notice"] for item in _messages(inbox)] == ["first", "reminder"]
    _inbox(world, 'deadline = "0.01s"\ndeadline_decision = "abort"\n')
    (passed,) = world.run("notify", "--json").json
    assert (passed["notice"], passed["channel"]) == ("deadline", "abort")
    (answer,) = world.events("EscalationResolved")
    assert (answer["data"]["decision"], answer["data"]["by"]) == ("abort", "the deadline")
    done = world.run("resume", world.task, "--json")
    assert done.json["outcome"] == "aborted"


def test_a_project_may_not_have_its_own_programs_told(world: World) -> None:
    world.settings('[notify]\ncommand = ["touch", "/tmp/told"]\n')
    done = world.start()
    assert (done.code, "a project may not set notify" in done.json["error"]["message"]) == (2, True)
