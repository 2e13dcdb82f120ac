"""What a tool found in a recorded run, made again from its record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentforge.tools.base import Observation

if TYPE_CHECKING:
    from agentforge.events import kinds
    from agentforge.pipeline.runtime import Runtime

_FENCE = re.compile(r"<untrusted (\S+)>\n")


def observation_of(finished: kinds.ToolFinished, runtime: Runtime) -> Observation:
    """What the tool found then, before it was cut and fenced."""
    from agentforge.safety.boundary import unwrap

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


def nonce_of(finished: kinds.ToolFinished | None) -> str:
    """The word that fenced the recorded text; every process has its own."""
    found = _FENCE.match(finished.text) if finished else None
    return found[1] if found else ""
