"""/history, /retry, /clear, /compact, /context: what the conversation holds."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.display import window_words
from agentforge.app.sessions.report import context_value
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import ConflictError, UsageError
from agentforge.events.kinds import HistoryCleared
from agentforge.events.state.talk import Entry

_SHOWN = 10
_LENGTH = 400
_BAR = 20
_PARTS = {
    "system_prompt": "instructions",
    "available_actions": "tools",
    "history": "what was said",
    "observations": "results of tools",
    "situation": "todos and background",
}


def _history(chat: Chat, rest: str) -> SlashReply:
    if rest and (not rest.isdigit() or not int(rest)):
        raise UsageError(f"/history {rest}: how many messages?", hint="/history 20")
    entries = chat.state.talk.entries[-(int(rest) if rest else _SHOWN) :]
    lines = [_line(entry) for entry in entries]
    return SlashReply(text="\n".join(lines) or "Nothing was said yet.", data={"messages": len(chat.state.talk.entries)})


def _line(entry: Entry) -> str:
    if entry.kind == "tool":
        return f"- {entry.name}: {entry.summary}"
    calls = ", ".join(str(call["name"]) for call in entry.calls)
    text = " ".join(entry.text.split())
    shown = text if len(text) <= _LENGTH else f"{text[:_LENGTH]} ..."
    return f"- **{entry.kind}** {shown}" + (f" (calls {calls})" if calls else "")


def _retry(chat: Chat, _rest: str) -> SlashReply:
    if not chat.state.talk.said:
        raise UsageError("there is no message to send again")
    return SlashReply(action="say", prompt=chat.state.talk.said)


def _clear(chat: Chat, _rest: str) -> SlashReply:
    if chat.state.talk.open:
        raise ConflictError("the agent is still working", hint="stop it first")
    chat.log.append(HistoryCleared())
    return SlashReply(text="The conversation starts anew; todos, settings and checkpoints stay.")


def _compact(chat: Chat, _rest: str) -> SlashReply:
    if chat.state.talk.open:
        raise ConflictError("the agent is still working", hint="stop it first")
    event = chat.workshop.compact(chat.state, "asked")
    if not event.entries:
        return SlashReply(text="There is nothing to compact.")
    chat.log.append(event)
    by = "" if event.by == "model" else " No model could be asked: every message became one line."
    return SlashReply(
        text=f"{window_words(event)}{by}",
        data={"tokens_before": event.tokens_before, "tokens_after": event.tokens_after},
    )


def _context(chat: Chat, _rest: str) -> SlashReply:
    value = context_value(chat)
    total = max(1, value["budget"])
    free = max(0, value["budget"] - value["tokens"])
    filled = {_PARTS.get(name, name): tokens for name, tokens in value["sections"].items()}
    rows = [_row(name, tokens, tokens / total) for name, tokens in filled.items()]
    rows.append(_row("free", free, free / total, sign="░"))
    head = (
        f"{value['tokens']:,} of {value['budget']:,} tokens ({value['used']:.0%}), {value['compactions']} compactions."
    )
    then = (
        f"You are warned at {value['warned_at']:,}; at {value['compacted_at']:,} the oldest part becomes a summary. What you said"
        f" and attached ({value['handed_over']:,}) stays whole; there is room for {value['room_for_more']:,} more of it."
    )
    return SlashReply(text="\n".join([head, "", "```text", *rows, "```", "", then]), data=value)


def _row(name: str, tokens: int, share: float, *, sign: str = "█") -> str:
    """A part of the window as a line with a bar; what is there at all is seen."""
    bar = sign * max(1 if share > 0 else 0, round(share * _BAR))
    return f"{name:20} {tokens:>9,} {share:>7.1%}  {bar}".rstrip()


COMMANDS = (
    SlashCommand(name="history", at_once=True, usage="[n]", summary="Show the last messages.", run=_history),
    SlashCommand(name="retry", summary="Send the last message again.", run=_retry),
    SlashCommand(name="clear", summary="Forget the conversation; todos and settings stay.", run=_clear),
    SlashCommand(name="compact", summary="Replace the older part by a summary.", run=_compact),
    SlashCommand(name="context", at_once=True, summary="Show what fills the context.", run=_context),
)
