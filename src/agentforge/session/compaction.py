"""Compaction: the oldest part of a history becomes a summary. Never between a call and its result; never twice for nothing.

The model reads the part as it was sent before, so that the provider's cache knows it, and one message more that asks for the
summary. Where none can be asked, every message and call becomes one line. What the user said stays beside it word for word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentforge.context.conversation import Budget, Compaction, build_request, compactable
from agentforge.context.window import blocks, history_tokens
from agentforge.errors import ModelError
from agentforge.events.kinds.conversation import HistoryCompacted
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry, Talk
from agentforge.messages import Message, ModelReply, ModelRequest, Text, ToolSchema
from agentforge.models import Model
from agentforge.session.modes import prompt
from agentforge.tokens import count_tokens, cut_end, cut_middle

_USER_TOKENS = 80
_SAID_TOKENS = 60
_WORD = 60
_PINNED_TOKENS = 300


def compacted(
    state: RunState,
    model: Model,
    *,
    budget: Budget,
    system: str,
    tools: Sequence[ToolSchema],
    fixed: int,
    reason: str,
    shown: Callable[[Message], Message] = lambda message: message,
    price: Callable[[ModelReply], float | None] = lambda _reply: None,
) -> HistoryCompacted:
    """Summarise what lies before the last part of the history.

    Args:
        budget: of a request.
        system, tools: as they are sent with every request.
        fixed: tokens of a request beside its history.
        reason: "budget" or "asked".
        shown: makes a message fit to leave the machine.
    Side effects: asks the model.
    """
    talk = state.talk
    plan = compactable(talk, budget=budget, fixed=fixed, asked=reason == "asked") or Compaction(entries=0, kept=())
    old = talk.entries[: plan.entries]
    reply = _asked(replace(talk, entries=old), model, budget, system, tools, shown) if plan.entries else None
    said = reply.text.strip() if reply is not None else ""
    lost = [entry for place, entry in enumerate(old) if place not in plan.kept]
    text = cut_end(said, limit=budget.summary) if said else cut_middle("\n".join(digest(lost)), limit=budget.summary)
    summary = "\n".join([text, *_pinned(talk), *_no_room_for(lost)])
    rest = history_tokens([*(old[place] for place in plan.kept), *talk.entries[plan.entries :]])
    return HistoryCompacted(
        entries=plan.entries,
        kept=plan.kept,
        summary=summary,
        by="model" if said else "harness",
        reason=reason,
        tokens_before=history_tokens(talk.entries),
        tokens_after=count_tokens(summary) + rest,
        budget=budget.total,
        window=budget.window,
        fixed=fixed,
        usage=_usage(reply),
        cost_usd=price(reply) if reply is not None else 0.0,
    )


def digest(entries: Sequence[Entry]) -> list[str]:
    """Tell a history in lines: one for each message, one for each step's calls; lines of an older summary as they are."""
    lines: list[str] = []
    for block in blocks(entries):
        first = block[0]
        if first.kind == "summary":
            lines += first.text.splitlines()
        elif first.kind in ("user", "note"):
            lines.append(f"{first.kind.capitalize()}: {_line(first.text, _USER_TOKENS)}")
        else:
            said = _line(first.text, _SAID_TOKENS)
            done = "; ".join(_called(first, entry) for entry in block if entry.kind == "tool")
            lines.append(" -> ".join(part for part in (f"Assistant: {said}" if said else "", done) if part))
    return [line for line in lines if line.strip()]


def _called(reply: Entry, result: Entry) -> str:
    call = next((call for call in reply.calls if call.get("call_id") == result.call_id), {})
    status = "" if result.status == "success" else f" [{result.status}]"
    return f"{result.name} {_object(str(call.get('arguments', '')))}{status}: {result.summary[:100]}".replace("  ", " ")


def _object(arguments: str) -> str:
    """What a call was about: its path, its command, else its first text."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    texts = [item for item in value.values() if isinstance(item, str)] if isinstance(value, dict) else []
    return " ".join(texts[0].split())[:_WORD] if texts else ""


def _asked(
    talk: Talk,
    model: Model,
    budget: Budget,
    system: str,
    tools: Sequence[ToolSchema],
    shown: Callable[[Message], Message],
) -> ModelReply | None:
    """The model's summary; None when it cannot be had."""
    wanted = Message(role="user", parts=(Text(text=prompt("compaction").format(words=budget.summary * 2 // 5)),))
    sent = build_request(talk, system=system, tools=tools, budget=budget)
    request = ModelRequest(
        messages=tuple(map(shown, (*sent.messages, wanted))),
        tools=sent.tools,
        max_output_tokens=budget.summary,
        labels={"stage": "compaction", "stage_step": talk.compactions + 1},
    )
    try:
        return model.complete(request)
    except ModelError:  # the lines themselves will do
        return None


def _pinned(talk: Talk) -> list[str]:
    """What the program itself knows of the work so far."""
    paths = [f"Files changed so far: {', '.join(talk.changed_paths)}"] if talk.changed_paths else []
    command = [f"Last command: {talk.last_command}"] if talk.last_command else []
    return [_line(line, _PINNED_TOKENS) for line in (*paths, *command)]


def _no_room_for(lost: Sequence[Entry]) -> list[str]:
    """What the user said and the window has no room for any more is named, so that nobody takes its beginning for all of it."""
    return [
        f"The user said, and it is not shown any more ({count_tokens(entry.text)} tokens; ask for what you need of it): "
        f"{_line(entry.text, _USER_TOKENS)}"
        for entry in lost
        if entry.kind == "user"
    ]


def _usage(reply: ModelReply | None) -> dict[str, int]:
    if reply is None:
        return {}
    usage = reply.usage
    return {
        "llm_calls": 1,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
    }


def _line(text: str, tokens: int) -> str:
    return cut_end(" ".join(text.split()), limit=tokens)
