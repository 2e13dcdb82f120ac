"""The choices of a question: what each is called, what is recorded when it is taken, and what happens next. Pure.

A question offers only what changes what happens. An answer that it does not offer is refused where it is given, so that no run
asks the same question about the same facts again.
"""

from __future__ import annotations

from typing import cast

from agentforge.events.kinds import Decision, Json
from agentforge.events.state.run_state import Escalation
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to answer.

    Attributes:
        label: what it is called.
        then: what happens next, in a sentence.
        decision: what is recorded.
        text: the words that are recorded with it, "" where the person's own count or none are needed.
        words: the person says something in words of his own.
        reopen: the earlier stage that is done again with the answer, "" = none.
        limit: the limit that a new value is given for, "" = none.
    """

    label: str
    then: str
    decision: Decision
    text: str = ""
    words: bool = False
    reopen: str = ""
    limit: str = ""

    @property
    def value(self) -> dict[str, object]:
        """The choice as it is recorded: what is empty is left out."""
        told: dict[str, object] = {"label": self.label, "then": self.then, "decision": self.decision}
        more = {"text": self.text, "words": self.words, "reopen": self.reopen, "limit": self.limit}
        return {**told, **{name: value for name, value in more.items() if value}}


ABORT = Choice(label="abort", then="The task ends for good. Its record stays.", decision="abort")
OWN_WORDS = Choice(
    label="in your words", then="AgentForge continues the task with your answer.", decision="answer", words=True
)


def fixed(text: str, then: str) -> Choice:
    """An answer whose words are given."""
    return Choice(label=text, then=then, decision="answer", text=text)


def choices_of(item: Escalation) -> tuple[Choice, ...]:
    """What a question offers; one of an earlier version offers what its kind always did."""
    if item.choices:
        return tuple(_read(row) for row in item.choices)
    if item.kind == "limit":
        return (raising(item.reason), *others_of_limit(item.reason), ABORT)
    if item.kind == "approval":
        return (*approving(item.stage, step="step" in item.context), ABORT)
    then = "AgentForge continues the task with this answer."
    return (*(fixed(text, then) for text in item.options), OWN_WORDS, ABORT)


def approving(stage: str, *, step: bool = False) -> tuple[Choice, Choice]:
    """To approve a result, or the calls of a step; and to refuse them."""
    if step:
        return (
            Choice(label="approve", then="AgentForge carries out the calls of this step.", decision="approve"),
            Choice(
                label="reject",
                then="AgentForge does not carry them out. The model reads your reason and goes on.",
                decision="reject",
                words=True,
            ),
        )
    return (
        Choice(label="approve", then=f"AgentForge accepts the result of {stage} and continues.", decision="approve"),
        Choice(
            label="reject",
            then=f"AgentForge does {stage} again, and the model reads your reason.",
            decision="reject",
            words=True,
        ),
    )


def limit_name(reason: str) -> str:
    """The limit that ran out, as the commands call it: `max-steps`."""
    return reason.partition(":")[0].replace("_", "-")


def raising(reason: str) -> Choice:
    """As much of a limit again."""
    then = "The task may use the same amount again, and continues."
    return Choice(label=f"raise {limit_name(reason)}", then=then, decision="approve")


def others_of_limit(reason: str) -> tuple[Choice, ...]:
    """To name the new limit; of one that a minute mends, to wait."""
    name = limit_name(reason)
    then = "You set a new limit, and the task continues: +N allows so much more, N so much in all."
    return (Choice(label=f"another {name}", then=then, decision="approve", limit=name),)


def taken(item: Escalation, *, decision: str, text: str = "", reopen: str = "") -> Choice | None:
    """The choice that an answer takes; None when the question does not offer it.

    Words of a choice count however they are written; where no other words are wanted, its number counts, too, and the name of a
    place without its file.
    """
    said = _plain(text)
    offered = [choice for choice in choices_of(item) if not choice.limit]
    if decision == "answer" and said == "abort" and not reopen:
        return next((choice for choice in offered if choice.decision == "abort"), None)
    fitting = [choice for choice in offered if choice.decision == decision and choice.reopen == reopen]
    exact = [choice for choice in fitting if choice.text and said == _plain(choice.text)]
    free = [choice for choice in fitting if not choice.text]
    if exact or free:
        return (exact or free)[0]
    if said.isdecimal() and 1 <= int(said) <= len(offered):
        numbered = offered[int(said) - 1]
        return numbered if numbered in fitting else None
    named = [choice for choice in fitting if said and said == _plain(choice.text.partition("::")[2])]
    return named[0] if len(named) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("`'\". ").lower()


def by_itself(item: Escalation, decision: Decision) -> Choice:
    """The choice that stands for a decision made without a person: approve, reject or abort after a deadline.

    What cannot be approved goes on with the first answer that needs no words; what offers none of that ends.
    """
    offered = [choice for choice in choices_of(item) if not choice.limit and not choice.reopen]
    same = [choice for choice in offered if choice.decision == decision]
    silent = [choice for choice in offered if not choice.words and choice.decision != "abort"]
    found = same or (silent if decision == "approve" else [])
    return found[0] if found else ABORT


def _read(row: Json) -> Choice:
    told = {name: str(row.get(name, "")) for name in ("label", "then", "text", "reopen", "limit")}
    return Choice(**told, decision=cast("Decision", row.get("decision", "answer")), words=row.get("words") is True)
