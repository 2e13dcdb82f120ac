"""What a tool found, and what a model replied, in a recorded run: made again from its record."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentforge.events import kinds
from agentforge.messages import ModelReply, ToolCall, Usage
from agentforge.pipeline.model.runtime import Runtime
from agentforge.safety.text.boundary import unwrap
from agentforge.tools.base import Observation

_FENCE = re.compile(r"<untrusted (\S+)>\n")


def observation_of(finished: kinds.ToolFinished, runtime: Runtime) -> Observation:
    """What the tool found then, before it was cut and fenced."""
    if finished.output:
        text = runtime.blobs.get(finished.output).decode("utf-8", "surrogateescape")
    else:
        text = unwrap(finished.text) if _FENCE.match(finished.text) else finished.text
    return Observation(
        status=finished.status,
        summary=finished.summary,
        text=text,
        error_type=finished.error_type,
        retryable=finished.retryable,
        next_actions=finished.next_actions,
        artifacts=finished.paths,
        changed=tuple(finished.changed),
        view=finished.view,
    )


def reply_of(said: kinds.ModelReplied) -> ModelReply:
    """What the model replied then."""
    counted = {key: int(value) for key, value in said.usage.items() if isinstance(value, int)}
    reported = bool(counted.pop("reported", 1))
    return ModelReply(
        text=said.text,
        tool_calls=tuple(
            ToolCall(call_id=str(call["call_id"]), name=str(call["name"]), arguments=str(call["arguments"]))
            for call in said.tool_calls
        ),
        finish=said.finish,  # type: ignore[arg-type] # one of the reasons, as it was recorded
        usage=Usage(**counted),
        model=said.model,
        thinking=said.thinking,
        requests=said.requests,
        usage_reported=reported,
        sent=said.sent,
        others=said.others,
        kept=tuple(said.kept),
    )


def nonce_of(finished: kinds.ToolFinished | None) -> str:
    """The word that fenced the recorded text; every process has its own."""
    found = _FENCE.match(finished.text) if finished else None
    return found[1] if found else ""


def exit_code_of(row: Mapping[str, object]) -> int:
    """How a contract's command ended then."""
    return value if isinstance(value := row.get("measured"), int) else 1


def printed_of(row: Mapping[str, object], command: str) -> str:
    """What it printed."""
    return str(row.get("message", "")).partition(f"`{command}` ended with {exit_code_of(row)}: ")[2]
