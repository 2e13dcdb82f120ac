"""The tool memory: short facts that are remembered across sessions, of the user or of the project."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Memory, Observation, Tool, ToolContext, ToolError, failed, takes

_LONGEST_KEY = 100
_LONGEST_VALUE = 4000


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    if context.memory is None:
        raise ToolError(failed("nothing is remembered here", error_type="no-memory", retryable=False))
    action, scope = text(arguments, "action"), text(arguments, "scope", default="user")
    key = text(arguments, "key").strip()
    if action == "list":
        return _listed(context.memory, scope)
    if action == "clear":
        for name in list(context.memory.entries(scope)):
            context.memory.put(name, None, scope=scope)
        return Observation(status="success", summary=f"{scope} memory is empty now")
    if not key or len(key) > _LONGEST_KEY:
        raise ToolError(failed(f"{action} needs a key of 1 to {_LONGEST_KEY} characters", error_type="bad-arguments"))
    return _of_key(context.memory, action, scope, key, text(arguments, "value"))


def _of_key(memory: Memory, action: str, scope: str, key: str, value: str) -> Observation:
    if action == "set":
        if not value.strip() or len(value) > _LONGEST_VALUE:
            raise ToolError(
                failed(f"set needs a value of 1 to {_LONGEST_VALUE} characters", error_type="bad-arguments")
            )
        memory.put(key, value, scope=scope)
        return Observation(status="success", summary=f"remembered {key} ({scope})")
    known = memory.entries(scope)
    if key not in known:
        raise ToolError(
            failed(f"nothing is remembered as {key!r}; keys: {', '.join(known) or 'none'}", error_type="not-found")
        )
    if action == "delete":
        memory.put(key, None, scope=scope)
        return Observation(status="success", summary=f"forgot {key} ({scope})")
    return Observation(status="success", summary=key, text=known[key])


def _listed(memory: Memory, scope: str) -> Observation:
    known = memory.entries(scope)
    return Observation(
        status="success",
        summary=f"{len(known)} entries ({scope})",
        text="\n".join(f"{name}: {value}" for name, value in known.items()),
    )


def _acts(arguments: Mapping[str, object]) -> str:
    return "read-only" if arguments.get("action") in ("get", "list") else "write"


TOOL = Tool(
    name="memory",
    description="Facts to remember across sessions.",
    parameters=takes(
        "action",
        action={"enum": ["set", "get", "delete", "list", "clear"]},
        key=TEXT,
        value=TEXT,
        scope={"enum": ["user", "project"]},
    ),
    effect="read",
    acts=_acts,
    run=_run,
)
