"""/swarm: several subagents on one question, or on one task."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.app.subagents.swarm import build, investigate
from agentforge.errors import UsageError

_USAGE = '/swarm [investigate "QUESTION" | build "TASK"]'


def _swarm(chat: Chat, rest: str) -> SlashReply:
    action, _, words = rest.strip().partition(" ")
    if not action:
        chat.change(work_mode="swarm")
        return SlashReply(
            text="Swarm mode: every message is split among subagents that only look, until `/build` or `/plan`.",
            data={"mode": "swarm"},
        )

    acts = {"investigate": investigate, "build": build}
    if action not in acts:
        raise UsageError(f"/swarm has no action {action!r}", hint=_USAGE)
    return SlashReply(text=acts[action](chat, _unquoted(words)))


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


COMMANDS = (
    SlashCommand(
        name="swarm",
        usage='[investigate "QUESTION" | build "TASK"]',
        summary="Split a question, or a task, among several subagents and merge what they find or write.",
        run=_swarm,
        complete=lambda _chat, word: tuple(one for one in ("investigate", "build") if one.startswith(word)),
    ),
)
