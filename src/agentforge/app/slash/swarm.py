"""/swarm: several subagents on one question, or on one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError

if TYPE_CHECKING:
    from agentforge.app.chat import Chat

_USAGE = '/swarm [investigate "QUESTION"]'


def _swarm(chat: Chat, rest: str) -> SlashReply:
    action, _, words = rest.strip().partition(" ")
    if not action:
        chat.change(work_mode="swarm")
        return SlashReply(
            text="Swarm mode: every message is split among subagents that only look, until `/build` or `/plan`.",
            data={"mode": "swarm"},
        )
    if action != "investigate":
        raise UsageError(f"/swarm knows no {action!r}", hint=_USAGE)
    from agentforge.app.swarming import investigate

    return SlashReply(text=investigate(chat, _unquoted(words)))


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


COMMANDS = (
    SlashCommand(
        name="swarm",
        usage='[investigate "QUESTION"]',
        summary="Split a question among several subagents and merge what they find.",
        run=_swarm,
        complete=lambda _chat, word: tuple(one for one in ("investigate",) if one.startswith(word)),
    ),
)
