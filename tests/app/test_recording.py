"""What a session records beside its words: hooks before a message, models that failed, secrets and escapes taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from agentforge.app.slash import run_slash
from agentforge.config.paths import config_dir
from agentforge.events import kinds
from agentforge.store.log.reader import read
from tests.support.people import Asked, requests_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

    from agentforge.app.sessions.chat import Chat
    from tests.support.people import Open


def _hook(environ: dict[str, str], command: str) -> None:
    """A hook of the user's own before every message."""
    file = config_dir(environ) / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"hooks_enabled = true\n[[hooks]]\nname = 'h'\ntrigger = 'before_agent'\ncommand = '''{command}'''\n"
    )


def _events(chat: Chat, kind: type[Any]) -> list[Any]:
    return [record.event for record in read(chat.log.folder) if isinstance(record.event, kind)]


def test_a_hook_hears_every_message_and_its_words_reach_the_model(opened: Open, environ: dict[str, str]) -> None:
    _hook(environ, 'echo "told of: $AGENTFORGE_USER_MESSAGE"')
    chat = opened()
    chat.say("one")
    chat.say("two")
    assert [event.trigger for event in _events(chat, kinds.HookFinished)] == ["before_agent"] * 2
    said = [text for role, text in texts_of(requests_of(chat)[-1]) if role == "user"]
    assert [f"told of: {word}" in text for word, text in zip(("one", "two"), said, strict=True)] == [True, True]


def test_a_message_that_a_hook_refuses_does_not_reach_the_model(opened: Open, environ: dict[str, str]) -> None:
    _hook(environ, 'case "$AGENTFORGE_USER_MESSAGE" in *deploy*) echo "not on Fridays" >&2; exit 2;; esac')
    chat = opened()
    refused = chat.say("deploy it")
    assert (refused.outcome, refused.reason) == ("blocked", "a hook refused the message: h: not on Fridays")
    assert requests_of(chat) == []
    assert chat.say("look at it").outcome == "completed"
    assert "deploy" not in str(requests_of(chat))


@pytest.mark.parametrize(("decision", "outcome"), [("once", "completed"), ("reject", "blocked")])
def test_a_hook_may_leave_a_message_to_the_person(
    opened: Open, environ: dict[str, str], decision: str, outcome: str
) -> None:
    _hook(environ, """echo '{"hookSpecificOutput": {"permissionDecision": "ask"}}'""")
    person = Asked(decision)
    assert opened(person=person).say("go").outcome == outcome
    assert len(person.questions) == 1


def test_errors_show_what_failed_before_another_model_answered(
    opened: Open, environ: dict[str, str], project: Path
) -> None:
    second = project.parent / "second.yaml"
    second.write_text(yaml.safe_dump({"chat": [{"text": "Here."}]}))
    (project / ".agentforge").mkdir()
    (project / ".agentforge" / "config.toml").write_text(f"[model]\nfallbacks = ['scripted/{second}']\n")
    chat = opened({"chat": [{"error": {"status": 503, "message": "overloaded"}}]})
    assert chat.say("hi").text == "Here."
    (row,) = run_slash(chat, "/errors").data["errors"]
    assert row["kind"] == "model" and "overloaded" in row["message"] and "answered instead" in row["message"]


def test_secrets_and_escapes_that_were_taken_out_of_a_result_are_counted(opened: Open, project: Path) -> None:
    (project / "a.env").write_text("PASSWORD=hunter2hunter2\nTOKEN=abcdefghijklmnop\n\x1b[31mred\x1b[0m \x07 \u202e\n")
    chat = opened(
        {"chat": [{"tool_calls": [{"name": "shell", "args": {"command": "cat a.env"}}]}, {"text": "Ok."}]},
        approval="yolo",
    )
    chat.say("look")
    (result,) = _events(chat, kinds.ToolFinished)
    assert dict(result.redaction) == {"count": 2, "kinds": ["assignment"]}
    assert dict(result.hygiene) == {"sequences": 2, "controls": 1, "invisible": 1}
    assert result.trust == "untrusted"
    assert "hunter2" not in result.text and "abcdefghijklmnop" not in result.text
    lines = (chat.log.folder.parent.parent / "events" / f"{chat.session_id}.jsonl").read_text()
    assert '"redaction": {"count": 2, "kinds": ["assignment"]}' in lines and '"trust": "untrusted"' in lines


def test_a_result_that_was_cut_says_which_field(opened: Open, environ: dict[str, str], project: Path) -> None:
    (project / ".agentforge").mkdir()
    (project / ".agentforge" / "config.toml").write_text("max_tool_output_tokens = 100\n")
    calls = {"tool_calls": [{"name": "shell", "args": {"command": "seq 1 900"}}]}
    chat = opened({"chat": [calls, {"text": "Ok."}]}, approval="yolo")
    chat.say("count")
    (result,) = _events(chat, kinds.ToolFinished)
    assert dict(result.hygiene) == {"truncated": ["text"]}
    assert dict(result.redaction) == {}
