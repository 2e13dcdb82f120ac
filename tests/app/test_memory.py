"""What a conversation remembers: the requests that go to the model hold what was said, attached and read before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentforge.app.history.replay import replay_session
from agentforge.app.sessions.display import window_words
from agentforge.app.sessions.mentions import notes_of
from agentforge.app.sessions.person import Nobody
from agentforge.app.slash import run_slash
from agentforge.config.settings import load
from agentforge.errors import UsageError
from agentforge.events import kinds
from tests.support.people import Asked, requests_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.people import Open


def _small(project: Path, window: int = 24_000) -> None:
    (project / ".agentforge").mkdir()
    (project / ".agentforge" / "config.toml").write_text(
        f"[model]\ncontext_window = {window}\nmax_output_tokens = 1000\n"
    )


def _reads(path: str) -> list[dict[str, Any]]:
    return [{"tool_calls": [{"name": "read_file", "args": {"path": path}}]}, {"text": "Read."}]


def _said(chat: Any) -> str:
    return "\n".join(text for _, text in texts_of(requests_of(chat)[-1]))


def test_an_attached_file_stands_whole_in_every_later_request(opened: Open, project: Path) -> None:
    content = "".join(f"row {number} of the table\n" for number in range(3_000))
    (project / "table.txt").write_text(content)
    chat = opened()
    chat.say("look at @table.txt", notes=notes_of("@table.txt", project).notes)
    for turn in range(20):
        chat.say(f"question {turn}")
    assert all(content in "\n".join(text for _, text in texts_of(one)) for one in requests_of(chat))


def test_what_does_not_fit_is_refused_with_size_limit_and_way_out_and_nothing_is_recorded(
    opened: Open, project: Path
) -> None:
    _small(project)
    chat = opened()
    with pytest.raises(UsageError) as refused:
        chat.say("look", notes=("word " * 30_000,))
    assert "30,00" in str(refused.value) and "24,000" in str(refused.value)
    assert "attach less" in refused.value.hint
    assert (chat.state.talk.turn, chat.state.talk.entries) == (0, ())
    assert chat.say("look").outcome == "completed"


def test_the_user_is_told_when_the_window_fills_and_when_a_part_was_summarised(
    opened: Open, project: Path, environ: dict[str, str]
) -> None:
    _small(project)
    for number in range(12):
        (project / f"f{number}.txt").write_text(f"line of {number}\n" * 400)
    told: list[kinds.Event] = []
    script = {
        "chat": [one for number in range(12) for one in _reads(f"f{number}.txt")],
        "compaction": [{"text": "Read."}],
    }
    chat = opened(script, Nobody(heard=lambda event, _state: told.append(event)), approval="yolo")
    for number in range(12):
        chat.say(f"read f{number}.txt")
    seen = [event for event in told if isinstance(event, kinds.WindowFilling | kinds.HistoryCompacted)]
    assert [type(event) for event in seen[:2]] == [kinds.WindowFilling, kinds.HistoryCompacted]
    first, second = map(window_words, seen[:2])  # type: ignore[arg-type]
    assert first.startswith("The context is 7") and "at 80 %" in first
    assert second.startswith("Summarised ") and "stays whole" in second
    assert 0.7 * 24_000 <= seen[0].tokens < 0.8 * 24_000  # type: ignore[union-attr]
    assert all(f"read f{number}.txt" in _said(chat) for number in range(12))
    again = replay_session(chat.session_id, settings=load(project, environ), environ=environ)
    assert again.difference is None and again.requests == 24


def test_an_answer_and_a_reason_of_the_user_are_there_many_turns_later(opened: Open) -> None:
    asks = {"tool_calls": [{"name": "ask_human", "args": {"question": "Which?"}}]}
    writes = {"tool_calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]}
    script = {"chat": [asks, writes, {"text": "Well."}, *[{"text": "Ok."}] * 10]}
    chat = opened(script, Asked("reject", words="the blue one, never red"))
    chat.say("go")
    for turn in range(10):
        chat.say(f"question {turn}")
    assert "The user answered: the blue one, never red" in _said(chat)
    assert "The user declined this call and said: the blue one, never red" in _said(chat)


def test_context_says_what_fills_the_window_and_what_there_is_room_for(opened: Open, project: Path) -> None:
    _small(project)
    chat = opened()
    chat.say("look", notes=("word " * 2_000,))
    reply = run_slash(chat, "/context")
    assert reply.data["handed_over"] > 2_000 and reply.data["room_for_more"] > 10_000
    assert "You are warned at" in reply.text
