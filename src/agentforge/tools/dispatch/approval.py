"""The approval of a call at dispatch: what a tool declares is put to the decision engine; nobody there to ask means no."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentforge.safety.policy.decision import Decision, decide_call, decide_command
from agentforge.safety.policy.part import Part, Policy
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.tools.base import Tool

if TYPE_CHECKING:
    pass

Ask = Callable[["Decision"], bool]
"""Puts a decision to a person: whether the call may be made."""

_STAY = "stay inside the workspace and leave protected files alone"
_WRITE_OUT = "write the value out, or put the lines into a script file that you run"
_BY_REASON = {
    "outside the workspace": _STAY,
    "protected": _STAY,
    "may hold secrets": "do without the contents of that file",
    "from its input": "give the code in a here document, as in python - <<'E', or in a file",
    "not understood": "write it as plain commands, or as a script file that you run",
    "only the run knows": _WRITE_OUT,
    "only at run time": _WRITE_OUT,
}
_ALWAYS = ("submit", "ask")
_INSTEAD = {
    "network": "work with what is in the repository",
    "install": "use what is installed",
    "destructive": "change or remove single files, by name",
    "unknown": "use a plainer command, or the tool that is made for it",
    "git-write": "leave commits and branches to the harness",
    "server": "run a test that starts and stops it",
}


def approval(
    policy: Callable[[], Policy],
    *,
    ask: Ask | None = None,
    allowed: Collection[str] | None = None,
    instead: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Tool, Mapping[str, object]], str | None]:
    """Make the judge that the dispatch asks before every call.

    Args:
        policy: what holds now.
        ask: asks a person; None = nobody is there, and what would be asked about is refused.
        allowed: names or patterns of the tools that may be called at all; None = every one that is offered.
        instead: other advice for classes of commands.
    Returns:
        A judge: None lets the call pass, a text says which part was refused, why, and what to do instead.
    """

    def judge(tool: Tool, arguments: Mapping[str, object]) -> str | None:
        if allowed is not None and not _is_allowed(tool.name, allowed):
            return f"{tool.name} is not among the tools that are allowed here ({', '.join(allowed) or 'none'})"
        if tool.effect in _ALWAYS:
            return None
        decision = decide_tool(tool, arguments, policy())
        if decision.verdict == "allow" or (decision.verdict == "ask" and ask is not None and ask(decision) is True):
            return None
        return refusal(decision, asked=ask is not None, instead=instead)

    return judge


def decide_tool(tool: Tool, arguments: Mapping[str, object], policy: Policy) -> Decision:
    """Decide about a call by what its tool declares: the line, the paths, the address."""
    line, folder = tool.command(arguments)
    if line:
        return decide_command(line, _in_folder(policy, folder))
    text = " ".join([tool.name, *(f"{key}={value}" for key, value in sorted(arguments.items()))])[:300]
    return decide_call(
        tool.name,
        policy,
        kind=_class_of(tool, arguments),
        reads=tool.reads(arguments),
        writes=tool.paths(arguments, Path(policy.ground.root)),
        url=tool.url(arguments),
        text=text,
    )


def refusal(decision: Decision, *, asked: bool, instead: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say which parts of a call were not approved, why, and what to do instead.

    Args:
        asked: a person answered.
        instead: other advice for classes of commands.
    """
    parts = [part for part in decision.parts if part.verdict is decision.verdict][:3]
    told = "; ".join(dict.fromkeys(f"`{part.text}`: {part.rule or part.reason}" for part in parts))
    if decision.verdict == "ask":
        why = (
            "the user declined it"
            if asked
            else f"mode {decision.mode} asks a person about it, and nobody is here to answer"
        )
    else:
        why = "refused" if any(part.rule for part in parts) else f"refused in mode {decision.mode}"
    advice = dict.fromkeys(_instead(part, {**_INSTEAD, **instead}) for part in parts)
    return f"{told} ({why}). Instead: {'; '.join(advice)}"


def _instead(part: Part, advice: Mapping[str, str]) -> str:
    for words, told in _BY_REASON.items():
        if words in part.reason:
            return told
    return advice.get(part.kind.value, "go on within what is allowed")


def _is_allowed(name: str, allowed: Collection[str]) -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name, pattern) for pattern in allowed)


def _class_of(tool: Tool, arguments: Mapping[str, object]) -> CommandClass:
    by_effect = {"read": CommandClass.READ_ONLY, "write": CommandClass.WRITE, "network": CommandClass.NETWORK}
    does = tool.acts(arguments) or tool.does
    return CommandClass(does) if does else by_effect.get(tool.effect, CommandClass.UNKNOWN)


def _in_folder(policy: Policy, folder: str) -> Policy:
    from dataclasses import replace
    from posixpath import join, normpath

    return replace(policy, ground=replace(policy.ground, folder=normpath(join(policy.ground.folder, folder or "."))))
