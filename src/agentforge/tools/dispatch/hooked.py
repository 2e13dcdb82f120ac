"""The user's hooks around one tool call: what they forbid, ask about, rewrite and add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.kinds import HookFinished
from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import clean
from agentforge.tools.base import Observation, Tool, ToolError

if TYPE_CHECKING:
    from agentforge.tools.dispatch.invocation import InvocationPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooked:
    """A call as the hooks leave it.

    Attributes:
        asks: why a human shall decide, "" when no hook wants that.
        notes: words of the hooks for the model.
    """

    arguments: Mapping[str, object]
    asks: str = ""
    notes: tuple[str, ...] = ()


def ask_before(tool: Tool, arguments: Mapping[str, object], policy: InvocationPolicy) -> Hooked:
    """Ask the hooks about a call; what they make of its arguments is judged by whoever comes next.

    Raises:
        ToolError: a hook forbids it.
    """
    if policy.hooks is None or not policy.hooks.has("before_tool"):
        return Hooked(arguments=arguments)
    said = policy.hooks.before_tool(tool.name, arguments)
    _hear(said.runs, policy)
    if said.verdict == "deny":
        reason = f"{tool.name}: blocked by a hook: {said.reason}"
        raise ToolError(
            Observation(
                status="denied",
                summary=reason,
                text=f"Nothing was executed. {reason}",
                error_type="hook",
                next_actions=("do what the hook asks for, or reach the goal in another way", *said.context),
            )
        )
    rewritten = () if said.arguments is None else ("a hook of the user's changed the arguments of this call",)
    return Hooked(
        arguments=arguments if said.arguments is None else said.arguments,
        asks=f"a hook asks for a decision: {said.reason}" if said.verdict == "ask" else "",
        notes=(*rewritten, *said.context),
    )


def ask_after(
    tool: Tool,
    arguments: Mapping[str, object],
    observation: Observation,
    policy: InvocationPolicy,
    *,
    notes: tuple[str, ...] = (),
) -> Observation:
    """Show the result to the hooks; one that objects makes it an error, though it was done.

    Args:
        notes: words of the hooks that were asked before the call.
    """
    if policy.hooks is not None and policy.hooks.has("after_tool"):
        result = policy.scrub(clean(observation.text or observation.summary))
        said = policy.hooks.after_tool(tool.name, arguments, result)
        _hear(said.runs, policy)
        notes = (*notes, *said.context)
        if said.verdict in ("deny", "ask"):
            observation = replace(
                observation,
                status="error",
                error_type="hook",
                summary=f"done, but a hook objects: {said.reason} ({observation.summary})",
                text=f"The call was carried out. A hook objects: {said.reason}\n{observation.text}",
            )
    return replace(observation, next_actions=(*observation.next_actions, *notes)) if notes else observation


def _hear(runs: tuple[HookFinished, ...], policy: InvocationPolicy) -> None:
    for run in runs:
        policy.heard(run)
