"""Compaction: the oldest entries of a history become a summary. Never between a call and its result; never twice for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.context.conversation import Budget, entry_tokens
from agentforge.errors import ModelError
from agentforge.events.conversing import HistoryCompacted
from agentforge.messages import Message, ModelRequest, Text
from agentforge.tokens import cut_middle

if TYPE_CHECKING:
    from agentforge.events.state import RunState
    from agentforge.events.talk import Entry, Talk
    from agentforge.models.model import Model

_SUMMARY_TOKENS = 600


def compacted(state: RunState, model: Model, *, budget: Budget, reason: str) -> HistoryCompacted:
    """Summarise what lies before the last part of the history.

    Args:
        budget: of a request; what is kept word for word costs at most a third of it.
    """
    talk = state.talk
    count = boundary(talk, keep_tokens=budget.total // 3)
    old = talk.entries[:count]
    before = sum(map(entry_tokens, talk.entries))
    try:
        text, by = _asked(old, talk, model, budget=budget), "model"
    except ModelError:
        text, by = _mechanical(old, talk), "harness"
    after = sum(map(entry_tokens, talk.entries[count:]))
    return HistoryCompacted(entries=count, summary=text, by=by, reason=reason, tokens_before=before, tokens_after=after)


def boundary(talk: Talk, *, keep_tokens: int) -> int:
    """How many entries may go: the cut never lies between a call and its result."""
    spent, index = 0, len(talk.entries)
    while index > 0 and spent + entry_tokens(talk.entries[index - 1]) <= keep_tokens:
        index -= 1
        spent += entry_tokens(talk.entries[index])
    while index < len(talk.entries) and talk.entries[index].kind == "tool":
        index += 1
    return index


def _asked(old: tuple[Entry, ...], talk: Talk, model: Model, *, budget: Budget) -> str:
    shown = cut_middle(_mechanical(old, talk), limit=budget.total - 1_500)
    request = ModelRequest(
        messages=(
            Message(
                role="system",
                parts=(
                    Text(
                        text="Summarise this part of a coding session for the one who goes on with it: the goal, what was"
                        " decided, what was done and found, files, open points. Facts only, at most 300 words."
                    ),
                ),
            ),
            Message(role="user", parts=(Text(text=shown),)),
        ),
        max_output_tokens=_SUMMARY_TOKENS,
        labels={"stage": "compaction", "stage_step": talk.compactions + 1},
    )
    text = model.complete(request).text.strip()
    return f"Goal: {talk.goal}\n\n{text}" if text else _mechanical(old, talk)


def _mechanical(old: tuple[Entry, ...], talk: Talk) -> str:
    """The same without a model: what was asked, each call in one line, what is pinned."""
    lines = [f"Goal: {talk.goal}"]
    for entry in old:
        if entry.kind in ("user", "summary"):
            lines.append(f"{'User' if entry.kind == 'user' else 'Before'}: {entry.text[:600]}")
        elif entry.kind == "assistant" and entry.text.strip():
            lines.append(f"Assistant: {entry.text[:400]}")
        elif entry.kind == "tool":
            lines.append(f"- {entry.name}: {entry.summary}")
    if talk.changed_paths:
        lines.append(f"Files changed: {', '.join(talk.changed_paths)}")
    return cut_middle("\n".join(lines), limit=1_200)
