"""Every slash command of the older harness with its options, carried out on a real session; reports with their keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash import commands, run_slash
from agentforge.app.slash.command import SlashReply
from agentforge.cli.startup.lazy import COMMANDS

Open = Callable[..., Chat]

REPORT_KEYS = {
    "schema_version", "session_id", "name", "mode", "cwd", "created_at", "updated_at", "turn_count", "message_count", "model",
    "usage", "tools", "mcp_servers", "skills", "todos",
}  # fmt: skip


@pytest.fixture
def chat(open_chat: Open, folder: Path) -> Chat:
    """A session in which something was said and a file was written."""
    write = {"name": "write_file", "args": {"path": "a.txt", "content": "a"}}
    opened = open_chat({"text": "I write.", "tool_calls": [write]}, {"text": "Done."}, approval="auto", name="first")
    assert opened.say("write a file").text == "Done."
    return opened


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/help", "/restore"),
        ("/exit", ""),
        ("/quit", ""),
        ("/new", ""),
        ("/reload", "read again"),
        ("/version", "agentforge"),
        ("/retry", ""),
        ("/history", "write a file"),
        ("/history 1", "Done."),
        ("/report", "session id"),
        ("/report --json", '"schema_version": 1'),
        ("/clear", ""),
        ("/config", "max_turns"),
        ("/doctor", "settings"),
        ("/doctor fix", "settings"),
        ("/provider", "scripted"),
        ("/provider custom http://127.0.0.1:9/v1 local/model", "custom/local/model"),
        ("/models", ""),
        ("/models --page 1 --limit 2", ""),
        ("/model list", ""),
        ("/model", "scripted"),
        ("/fallbacks", "No fallbacks"),
        ("/fallbacks add openai/gpt-5-mini", "gpt-5-mini"),
        ("/fallbacks set openai/gpt-5-mini", "gpt-5-mini"),
        ("/fallbacks clear", "No fallbacks"),
        ("/paths", "checkpoints"),
        ("/compact", ""),
        ("/errors", ""),
        ("/errors 5", ""),
        ("/approval", "on-failure"),
        ("/approval auto-edit", "auto-edit"),
        ("/stats", "tokens"),
        ("/cost", "calls"),
        ("/todos", ""),
        ("/todos --clear", ""),
        ("/tools", "read_file"),
        ("/skills", ""),
        ("/mcp", ""),
        ("/name", "first"),
        ("/name second", "second"),
        ("/save", ""),
        ("/checkpoint", "Checkpoint"),
        ("/checkpoint by hand", "Checkpoint"),
        ("/checkpoints", "|"),
        ("/checkpoints --page 1 --limit 1", "|"),
        ("/sessions", "first"),
        ("/sessions --page 1 --limit 1", "first"),
        ("/plan", "Plan"),
        ("/build", "Build"),
        ("/swarm", ""),
        ("/export", "agentforge-"),
        ("/export html", ".html"),
        ("/export markdown", ".md"),
    ],
)
def test_a_command_with_its_options_answers(chat: Chat, line: str, told: str) -> None:
    reply = run_slash(chat, line)
    assert reply.ok, reply.text
    assert told in reply.text


def test_fallbacks_are_taken_out_again(chat: Chat) -> None:
    run_slash(chat, "/fallbacks set openai/a openai/b")
    assert run_slash(chat, "/fallbacks remove openai/a").data["fallbacks"] == ["openai/b"]


def test_a_fallback_that_has_no_key_is_named_and_the_session_goes_on(chat: Chat) -> None:
    reply = run_slash(chat, "/fallbacks add anthropic/a")
    assert (reply.ok, "ANTHROPIC_API_KEY" in reply.text) == (True, True)
    assert run_slash(chat, "/fallbacks").data["fallbacks"] == ["anthropic/a"]
    assert run_slash(chat, "/model").ok


def test_what_no_secret_is_is_shown(chat: Chat) -> None:
    assert 'limits.tokens_per_minute | `"none"`' in run_slash(chat, "/config limits").text


def test_a_session_is_resumed_and_a_checkpoint_restored_by_the_beginning_of_its_id(
    chat: Chat, folder: Path, open_chat: Open
) -> None:
    made = str(run_slash(chat, "/checkpoint").data["checkpoint_id"])
    (folder / "a.txt").write_text("b")
    assert run_slash(chat, f"/restore {made}").ok
    assert (folder / "a.txt").read_text() == "a"
    other = open_chat({"text": "Hello."})
    other.say("hi")
    other.close()
    reply = run_slash(chat, f"/resume {other.session_id[:8]}")
    assert (reply.ok, reply.action, reply.session) == (True, "open", other.session_id)


def test_a_skill_is_switched_on_and_off(chat: Chat, home: Path) -> None:
    skill = home / ".config" / "agentforge" / "skills" / "tdd"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tdd\ndescription: Tests first.\n---\nWrite the test first.\n")
    run_slash(chat, "/reload")
    assert run_slash(chat, "/skill tdd").ok
    assert run_slash(chat, "/unskill tdd").ok
    assert not run_slash(chat, "/skill none-such").ok


def test_what_asks_the_face_to_do_something_says_so(chat: Chat) -> None:
    done: dict[str, SlashReply] = {name: run_slash(chat, name) for name in ("/exit", "/quit", "/new", "/retry")}
    assert [reply.action for reply in done.values()] == ["exit", "exit", "open", "say"]
    assert done["/retry"].prompt == "write a file"


def test_the_report_has_the_keys_that_programs_read(chat: Chat) -> None:
    value = json.loads(run_slash(chat, "/report --json").text.strip("`").removeprefix("json"))
    assert set(value) >= REPORT_KEYS
    assert (value["schema_version"], value["name"], value["mode"], value["turn_count"]) == (1, "first", "build", 1)
    assert set(value["usage"]) >= {"latest", "total"} or set(value["usage"]) >= {"prompt_tokens", "total_tokens"}


def test_the_doctor_has_the_keys_that_programs_read(folder: Path, environ: dict[str, str]) -> None:
    from agentforge.cli.startup.lazy import agentforge

    done = CliRunner().invoke(agentforge, ["doctor", "--json", "--cwd", str(folder)], env=environ)
    value = json.loads(done.stdout)
    assert set(value) >= {"ok", "errors", "warnings", "checks"}
    assert all(set(check) == {"name", "status", "message", "detail"} for check in value["checks"])
    assert {check["status"] for check in value["checks"]} <= {"ok", "warning", "error"}
    assert value["ok"] is (value["errors"] == 0)


def test_every_command_of_the_command_line_is_there() -> None:
    assert {"run", "init", "doctor", "report", "export", "sessions"} <= set(COMMANDS)
    assert {"swarm", "cost", "undo", "redo"} <= set(commands())
