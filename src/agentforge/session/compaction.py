"""Compaction: the oldest entries of a history become a summary. Never between a call and its result; never twice for nothing.

First every message and call becomes one line, which needs no model. When the lines no longer fit, a model condenses them; when
none can be asked, the middle of them is left out. The user's words are kept beside what the model writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentforge.context.conversation import Budget, compactable
from agentforge.context.window import blocks, entry_tokens
from agentforge.errors import ModelError
from agentforge.events.kinds.conversation import HistoryCompacted
from agentforge.messages import Message, ModelRequest, Text
from agentforge.tokens import count_tokens, cut_end, cut_middle

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.events.state.talk import Entry, Talk
    from agentforge.messages import ModelReply
    from agentforge.models.api.model import Model

_INSTRUCTION = (
    "Summarise this part of a coding session for the one who goes on with it: what was decided, done and found, which"
    " files matter and why, what is open. Facts only, at most {} words, no introduction."
)
_USER_TOKENS = 80
_SAID_TOKENS = 60
_WORD = 60


def compacted(
    state: RunState,
    model: Model,
    *,
    budget: Budget,
    fixed: int,
    reason: str,
    price: Callable[[ModelReply], float | None] = lambda _reply: None,
) -> HistoryCompacted:
    """Summarise what lies before the last part of the history.

    Args:
        budget: of a request.
        fixed: tokens of a request beside its history.
        reason: "budget" or "asked".
    Side effects: asks the model where the plain lines would be too long, or when the user wants a summary.
    """
    talk = state.talk
    limit = budget.limits(fixed).summary
    count = compactable(talk, budget=budget, fixed=fixed, asked=reason == "asked")
    lines = digest(talk.entries[:count])
    text, by, reply = "\n".join(lines), "harness", None
    if reason == "asked" or count_tokens(text) > limit:
        reply = _asked(lines, talk, model, budget=budget, limit=limit)
        by = "model" if reply is not None else by
        text = _condensed(lines, reply.text.strip() if reply is not None else "", limit=limit)
    return HistoryCompacted(
        entries=count,
        summary=text,
        by=by,
        reason=reason,
        tokens_before=sum(map(entry_tokens, talk.entries)),
        tokens_after=count_tokens(text) + sum(map(entry_tokens, talk.entries[count:])),
        budget=budget.total,
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
        elif first.kind == "user":
            lines.append(f"User: {_line(first.text, _USER_TOKENS)}")
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


def _asked(lines: list[str], talk: Talk, model: Model, *, budget: Budget, limit: int) -> ModelReply | None:
    """The model's summary; None when it cannot be had."""
    shown = cut_middle("\n".join(lines), limit=budget.total - limit - 300)
    instruction = _INSTRUCTION.format(limit * 2 // 5)
    request = ModelRequest(
        messages=(
            Message(role="system", parts=(Text(text=instruction),)),
            Message(role="user", parts=(Text(text=f"Goal: {_line(talk.goal, 120)}\n\n{shown}"),)),
        ),
        max_output_tokens=limit,
        labels={"stage": "compaction", "stage_step": talk.compactions + 1},
    )
    try:
        return model.complete(request)
    except ModelError:  # the lines themselves will do
        return None


def _condensed(lines: list[str], text: str, *, limit: int) -> str:
    """What the model wrote behind the user's own words; without it the lines, their middle left out."""
    if not text:
        return cut_middle("\n".join(lines), limit=limit)
    said = cut_middle("\n".join(line for line in lines if line.startswith("User: ")), limit=max(16, limit // 3))
    return "\n".join(part for part in (said, cut_end(text, limit=limit - count_tokens(said) - 4)) if part)


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
