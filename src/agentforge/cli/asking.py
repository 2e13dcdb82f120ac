"""Asking the person at the terminal what an escalation asks, and reading the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, cast

import click

from agentforge.cli.options import Bound, Duration
from agentforge.events.state import Escalation
from agentforge.frozen import dataclass

Decision = Literal["answer", "approve", "reject", "abort"]

_LIMITS: Mapping[str, tuple[str, click.ParamType[object]]] = {
    "max_steps": ("max_steps", Bound(int)),
    "budget_tokens": ("budget_tokens", Bound(int)),
    "budget_usd": ("budget_usd", Bound(float)),
    "deadline": ("deadline_s", Duration()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a person decided; `limits` only where a limit was raised."""

    decision: Decision
    text: str = ""
    limits: Mapping[str, int | float | None] = field(default_factory=dict)


def ask(item: Escalation) -> Reply | None:
    """Ask one question; None = the person leaves it for later.

    Side effects: prompts on the terminal.
    """
    if item.kind == "approval":
        return _approval()
    if item.kind == "limit":
        return _limit(item)
    return _answer(item)


def _approval() -> Reply | None:
    words = click.Choice(("approve", "y", "yes", "reject", "n", "no", "abort", "later"))
    typed = click.prompt("approve, reject, abort or later", type=words, default="later", show_choices=False)
    word = {"y": "approve", "yes": "approve", "n": "reject", "no": "reject"}.get(typed, typed)
    if word == "reject":
        return Reply(decision="reject", text=click.prompt("What is wrong"))
    decisions: Mapping[str, Decision] = {"approve": "approve", "abort": "abort"}
    return Reply(decision=decisions[word]) if word in decisions else None


def _limit(item: Escalation) -> Reply | None:
    name, kind = _LIMITS.get(item.reason.partition(":")[0], ("", click.STRING))
    if not name:
        return None

    def read(text: str) -> object:
        return text if text in ("abort", "later") else kind.convert(text, None, None)

    value = click.prompt(f"New {name.removesuffix('_s')}, abort or later", default="later", value_proc=read)
    if value == "abort":
        return Reply(decision="abort")
    if value == "later":
        return None
    return Reply(
        decision="answer", text=f"{name} = {value}", limits={name: None if value == "none" else cast("float", value)}
    )


def _answer(item: Escalation) -> Reply | None:
    numbers = f" (or a number from 1 to {len(item.options)})" if item.options else ""
    text = str(click.prompt(f"Your answer{numbers}, /abort or /later", default="/later")).strip()
    if text == "/later":
        return None
    if text == "/abort":
        return Reply(decision="abort")
    if text.isdecimal() and 1 <= int(text) <= len(item.options):
        text = item.options[int(text) - 1]
    return Reply(decision="answer", text=text)
