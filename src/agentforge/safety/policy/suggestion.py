"""The narrow rule that "always allow" offers for a command, and what it would match."""

from __future__ import annotations

import re
from dataclasses import replace

from agentforge.frozen import dataclass
from agentforge.globs import is_wild
from agentforge.safety.policy.decision import Decision, decide_command
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.permission import READING, RULE_DAYS, WRITING, after_days, host_of
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.grammar.syntax import names
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.safety.shell.programs.classification import classify

_WITH_VERB = frozenset(names("git npm pnpm yarn cargo go uv pip poetry docker kubectl gh make bun deno mix"))
_INTERPRETERS = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|bash|sh|zsh|dash|ksh|fish|java|pwsh|osascript|npx|uvx|pipx|bunx)[\d.]*"
)
_FLAGS = re.compile(r"-[A-Za-z]{0,5}")
_RUNNERS = frozenset(names("run exec x dlx tool compose"))
"""Verbs behind which another program, or a name from a file, says what happens."""
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
    if decision.verdict is not Consent.ASK or _beyond_rules(decision):
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
            if _reads_its_program(plain):
                continue
            if decide_command(command.text, policy).verdict is Consent.ASK and "*" not in text and text:
                found[text] = _for(plain, judged.kind)
    until = after_days(policy.now, RULE_DAYS) if policy.now else ""
    return tuple(replace(offer, until=until) for offer in found.values())


def _reads_its_program(words: list[str]) -> bool:
    """Whether a program runs what comes in by its input (`python3 - <<E`): a rule for it would let pass any code."""
    program, *rest = words
    return bool(_INTERPRETERS.fullmatch(program.rpartition("/")[2])) and all(map(_FLAGS.fullmatch, rest))


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
    asked = [part for part in decision.parts if part.verdict is Consent.ASK]
    return any("secret" in part.reason or "outside the workspace" in part.reason for part in asked)


def suggest_write(paths: tuple[str, ...], policy: Policy) -> tuple[Suggestion, ...]:
    """Offer a rule for a change of files: the folder of each, or the file alone where it lies at the top of the workspace.

    Args:
        paths: as the tool names them, relative to the workspace or absolute.
    """
    until = after_days(policy.now, RULE_DAYS) if policy.now else ""
    root = policy.ground.root.rstrip("/") + "/"
    found: dict[str, Suggestion] = {}
    for path in paths:
        inside = path.removeprefix(root).removeprefix("./")
        if not inside or inside.startswith(("/", "~", "..")) or is_wild(inside):
            return ()
        folder = inside.rpartition("/")[0]
        rule = f"Edit({folder}/**)" if folder else f"Edit(./{inside})"
        beside = "files of other folders" if folder else "other files"
        found[rule] = Suggestion(
            rule=rule, matches=(f"every change of {rule[5:-1]}",), still_asked=(beside,), until=until
        )
    return tuple(found.values())


def _for(words: list[str], kind: CommandClass) -> Suggestion:
    text = " ".join(words)
    head = _head(words)
    if kind in _NEVER or not head:
        return Suggestion(rule=f"shell({text})", matches=(text,), still_asked=(f"{text} more",))
    examples = dict.fromkeys((text, head, f"{head} --verbose"))
    first, _, rest = head.rpartition(" ")
    return Suggestion(
        rule=f"shell({head} *)",
        matches=tuple(examples),
        still_asked=(f"{first} other" if rest and first else f"{head}x", f"{text} && rm -r x"),
    )


def _head(words: list[str]) -> str:
    """The words that say what a command does, "" where only all of them do.

    A program that runs others is told by what it runs: `python -m http.server`, `node build.js`, `npm run lint`.
    """
    program, *rest = words
    if _INTERPRETERS.fullmatch(program.rpartition("/")[2]):
        if rest[:1] == ["-m"] and len(rest) > 1:
            return f"{program} -m {rest[1]}"
        return f"{program} {rest[0]}" if rest and not rest[0].startswith("-") else ""
    if program not in _WITH_VERB:
        return program
    if not rest or rest[0].startswith("-"):
        return ""
    if rest[0] not in _RUNNERS:
        return f"{program} {rest[0]}"
    return f"{program} {rest[0]} {rest[1]}" if len(rest) > 1 and not rest[1].startswith("-") else ""
