"""/agents: the subagents that can be started, and those that ran in this session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.display import cost_text
from agentforge.app.slash.command import SlashCommand, SlashReply


def _agents(chat: Chat, _rest: str) -> SlashReply:
    known = chat.workshop.around.subagents.known
    rows = [
        f"- **{name}**: {one.description} ({one.max_turns} turns, {one.timeout_seconds:g} s; "
        f"{', '.join(one.allowed_tools) if one.allowed_tools is not None else 'tools of the session'})"
        for name, one in known.items()
    ]
    ran = [_row(child) for child in chat.state.talk.children]
    data = {"subagents": list(known), "children": [dict(child) for child in chat.state.talk.children]}
    return SlashReply(text="\n".join([*rows, *(["", "In this session:", *ran] if ran else [])]), data=data)


def _row(child: Mapping[str, object]) -> str:
    usage = cast("Mapping[str, int]", child.get("usage") or {})
    tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
    seconds = cast("int", child.get("duration_ms", 0)) / 1000
    cost = child.get("cost_usd", 0.0)
    money = cost_text(cast("float", cost or 0.0), known=cost is not None)
    goal = " ".join(str(child["goal"]).split())[:80]
    return (
        f"- {child['name']} `{str(child['child'])[:8]}` {child['outcome']}: {goal} ({tokens:,} tokens, {money},"
        f" {seconds:.1f} s)"
    )


COMMANDS = (
    SlashCommand(name="agents", at_once=True, summary="Show the subagents.", run=_agents, aliases=("subagents",)),
)
