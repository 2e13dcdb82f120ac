"""A session whose log is damaged in the middle: the error names the way on, and what can be read goes on in a new session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agentforge.app.sessions.closed_sessions import fork
from agentforge.errors import IntegrityError

if TYPE_CHECKING:
    from tests.support.people import Open


def _damage(chat: object, *, keeps: int) -> None:
    """Cut a line in the middle; so many lines before it stay whole."""
    file = chat.log.folder / "events.jsonl"  # type: ignore[attr-defined]
    lines = file.read_bytes().splitlines(keepends=True)
    lines[keeps] = lines[keeps][:40] + b"\n"
    file.write_bytes(b"".join(lines))


def test_what_stands_before_the_damage_goes_on_in_a_new_session(opened: Open) -> None:
    chat = opened({"repeat_last": True, "chat": [{"text": "It is 42."}]})
    chat.say("What is it?")
    whole = len((chat.log.folder / "events.jsonl").read_bytes().splitlines())
    chat.say("And then?")
    chat.close()
    _damage(chat, keeps=whole + 1)
    with pytest.raises(IntegrityError) as caught:
        opened(session=chat.session_id)
    assert f"agentforge sessions fork {chat.session_id}" in (caught.value.hint or "")
    told: list[str] = []
    workshop = chat.workshop
    made = fork(workshop.environ, chat.session_id, settings=workshop.settings, tell=told.append)
    assert f"its first {whole + 1} records were read" in told[0]
    again = opened({"chat": [{"text": "Yes."}]}, session=made)
    texts = [entry.text for entry in again.state.talk.entries]
    assert texts[:3] == ["What is it?", "It is 42.", "And then?"] and "is damaged from here on" in texts[3]
    assert again.say("Go on").outcome == "completed"
    assert (chat.log.folder / "events.jsonl").exists()


def test_a_session_of_which_nothing_can_be_read_is_an_error(opened: Open) -> None:
    chat = opened()
    chat.say("hello")
    chat.close()
    _damage(chat, keeps=0)
    with pytest.raises(IntegrityError):
        fork(chat.workshop.environ, chat.session_id, settings=chat.workshop.settings)
