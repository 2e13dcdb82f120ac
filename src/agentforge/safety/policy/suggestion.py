"""The narrow rule that "always allow" offers for a command, and what it would match."""

from __future__ import annotations

from dataclasses import replace

from agentforge.frozen import dataclass
from agentforge.safety.policy.decision import Decision, Policy, decide_command
from agentforge.safety.policy.modes import Mode, Verdict
from agentforge.safety.policy.permission import READING, RULE_DAYS, WRITING, after_days, host_of
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.grammar.syntax import names
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.safety.shell.programs.classification import classify

_WITH_VERB = frozenset(names("git npm pnpm yarn cargo go uv pip poetry docker kubectl gh make bun deno mix"))
_NEVER = (CommandClass.DESTRUCTIVE, CommandClass.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A rule that a person may add.

    Attributes:
        rule: the rule itself.
        until: the last day on which it would hold; "" when nobody said what day it is.
        matches: commands that it would let pass, for the person to see how far it reaches.
        still_asked: commands close by that it would not.
    """

    rule: str
    matches: tuple[str, ...]
    still_asked: tuple[str, ...]
    until: str = ""

    @property
    def written(self) -> str:
        """As it would stand under `permissions.allow`."""
        return f"{self.rule} until {self.until}" if self.until else self.rule

    def value(self) -> dict[str, object]:
        """The suggestion as plain data."""
        return {
            "rule": self.rule,
            "until": self.until,
            "written": self.written,
            "matches": list(self.matches),
            "still_asked": list(self.still_asked),
        }


def suggest(line: str, policy: Policy) -> tuple[Suggestion, ...]:
    """Offer rules for the parts of a line that were asked about; none for what is not fully understood.

    Returns:
        One for each part, the exact command first when it may do harm; empty when no rule would help.
    """
    decision = decide_command(line, policy)
    if decision.verdict is not Verdict.ASK or _beyond_rules(decision):
        return ()
    found: dict[str, Suggestion] = {}
    script = read_line(line)
    if script.opaque:
        return ()
    for command in script.commands:
        for judged in classify(command):
            words = [word.value for word in judged.argv]
            if not judged.name or not words or None in words:
                continue
            plain = [word for word in words if word is not None]
            text = " ".join(plain)
            if decide_command(command.text, policy).verdict is Verdict.ASK and "*" not in text and text:
                found[text] = _for(plain, judged.kind)
    until = after_days(policy.now, RULE_DAYS) if policy.now else ""
    return tuple(replace(offer, until=until) for offer in found.values())


def suggest_call(tool: str, url: str, policy: Policy) -> tuple[Suggestion, ...]:
    """Offer a rule for a call that is no command: the host of an address, or a tool of a server or of the user's own."""
    until = after_days(policy.now, RULE_DAYS) if policy.now else ""
    if url:
        host = host_of(url)
        rule, matches, others = f"{tool}(domain:{host})", url, "another host"
        return (Suggestion(rule=rule, matches=(matches,), still_asked=(others,), until=until),) if host else ()
    if tool in (*READING, *WRITING, "shell", "git_commit", "git_branch", "memory") or policy.mode is Mode.NEVER:
        return ()
    return (Suggestion(rule=tool, matches=(f"every call of {tool}",), still_asked=("other tools",), until=until),)


def _beyond_rules(decision: Decision) -> bool:
    """Whether a rule could not help: a path is what is asked about."""
    asked = [part for part in decision.parts if part.verdict is Verdict.ASK]
    return any("secret" in part.reason or "outside the workspace" in part.reason for part in asked)


def _for(words: list[str], kind: CommandClass) -> Suggestion:
    text = " ".join(words)
    verb = words[1] if len(words) > 1 and words[0] in _WITH_VERB and not words[1].startswith("-") else ""
    if kind in _NEVER or (words[0] in _WITH_VERB and not verb):
        return Suggestion(rule=f"shell({text})", matches=(text,), still_asked=(f"{text} more",))
    head = f"{words[0]} {verb}".strip()
    examples = dict.fromkeys((text, head, f"{head} --verbose"))
    beside = f"{words[0]} {'other' if verb else ''}".strip()
    return Suggestion(
        rule=f"shell({head} *)",
        matches=tuple(examples),
        still_asked=(beside if verb else f"{words[0]}x", f"{text} && rm -r x"),
    )
