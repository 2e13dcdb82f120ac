"""Conversations: their list, and each of them turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import escape

from agentforge.dashboard.page_templates import inline, pieces
from tests.support.scene import HOSTILE

if TYPE_CHECKING:
    from tests.support.scene import Served


def test_the_list_names_conversations_and_finds_them(served: Served) -> None:
    every = served.ask("/sessions").body
    assert all(name in every for name in ("11111111-hostile", "22222222-long", "question 1", str(escape(HOSTILE))))
    found = served.ask("/sessions?q=QUESTION+1").body
    assert ("22222222-long" in found, "11111111-hostile" in found) == (True, False)
    assert "No conversation is called so" in served.ask("/sessions?q=nothing+has+this").body


def test_what_was_said_is_found(served: Served) -> None:
    body = served.ask("/sessions?q=question+44&deep=1").body
    assert "turn 44" in body
    assert body.count("question 44") >= 2


def test_a_conversation_is_shown_in_pages_of_turns_the_latest_first(served: Served) -> None:
    last = served.ask("/sessions/22222222-long").body
    assert ("question 45" in last, "question 40<" in last, "page 3 of 3" in last) == (True, False, True)
    first = served.ask("/sessions/22222222-long?page=1").body
    assert ("question 20<" in first, "question 21<" in first) == (True, False)
    assert first.count('class="call"') == 20


def test_hostile_words_are_only_words(served: Served) -> None:
    for path in ("/sessions", "/sessions/11111111-hostile", "/sessions?q=broken&deep=1"):
        body = served.ask(path).body
        assert HOSTILE not in body, path
        assert "window.broken" in body, path


def test_only_conversations_have_a_page(served: Served) -> None:
    for name in ("nobody", "..", "%2e%2e", "11111111"):
        assert served.ask(f"/sessions/{name}").status == 404, name


def test_a_message_is_cut_into_words_and_code() -> None:
    found = pieces("before\n```python\nx = '<b>'\n```\nafter\n```\nplain <i>\n")
    assert [kind for kind, _ in found] == ["text", "code", "text", "code"]
    assert "&lt;b&gt;" in str(found[1][1])
    assert found[3][1] == "plain <i>"
    assert pieces("") == []


def test_code_and_emphasis_are_shown_and_nothing_else() -> None:
    assert inline("a **b c** and `x < **y**` <i>") == "a <strong>b c</strong> and <code>x &lt; **y**</code> &lt;i&gt;"
    assert inline("2 ** 3 ** 4 `open\u202e") == "2 ** 3 ** 4 `open\\u202e"
