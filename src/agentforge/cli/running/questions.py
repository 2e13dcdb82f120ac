"""Asking the person at the terminal what an escalation asks, and reading the decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, cast

import click

from agentforge.cli.startup.options import Bound, Duration
from agentforge.events.kinds.choices import Choice, choices_of, taken
from agentforge.events.state.run_state import Escalation
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
    """What a person decided; `limits` only where a limit was raised, `reopen` where an earlier stage is done again."""

    decision: Decision
    text: str = ""
    reopen: str = ""
    limits: Mapping[str, int | float | None] = field(default_factory=dict)


def ask(item: Escalation) -> Reply | None:
    """Ask one question, whose choices stand above it; None = the person leaves it for later.

    Side effects: prompts on the terminal.
    """
    offered = choices_of(item)
    own = ", words of your own" if _of_words(offered) is not None else ""
    while True:
        typed = str(click.prompt(f"A number from 1 to {len(offered)}{own}, or later", default="later")).strip()
        if typed.removeprefix("/") == "later":
            return None
        choice = _meant(typed, offered)
        if choice is not None:
            return _taken(choice, item)
        free = _of_words(offered)
        found = taken(item, decision="answer", text=typed) or free
        if found is not None:
            return Reply(decision=found.decision, text=found.text or typed)
        click.echo("This question does not offer that.")


def _meant(typed: str, offered: Sequence[Choice]) -> Choice | None:
    """The choice of a number or a name."""
    if typed.isdecimal() and 1 <= int(typed) <= len(offered):
        return offered[int(typed) - 1]
    word = typed.removeprefix("/").lower()
    word = {"y": "approve", "yes": "approve", "n": "reject", "no": "reject"}.get(word, word)
    return next((choice for choice in offered if word == choice.label.lower()), None)


def _of_words(offered: Sequence[Choice]) -> Choice | None:
    """The choice that takes whatever is typed as the answer."""
    return next((one for one in offered if one.words and one.decision == "answer" and not one.reopen), None)


def _taken(choice: Choice, item: Escalation) -> Reply | None:
    if choice.limit:
        return _limit(item)
    prompt = "What is wrong" if choice.decision == "reject" else "In your words"
    text = str(click.prompt(prompt)) if choice.words else choice.text
    return Reply(decision=choice.decision, text=text, reopen=choice.reopen)


def _limit(item: Escalation) -> Reply | None:
    name, kind = _LIMITS.get(item.reason.partition(":")[0], ("", click.STRING))
    if not name:
        click.echo("Set it when you resume; the command stands above.")
        return None
    value = click.prompt(f"New {name.removesuffix('_s')}", value_proc=lambda text: kind.convert(text, None, None))
    return Reply(
        decision="answer", text=f"{name} = {value}", limits={name: None if value == "none" else cast("float", value)}
    )
