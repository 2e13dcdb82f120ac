"""Text that nobody vouches for, made fit for the model: cleaned, without secrets, cut, fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.tools.base import Observation
from agentforge.tools.dispatch.invocation import InvocationPolicy, present

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop


def fit_for_model(workshop: Workshop, text: str, *, most_tokens: int | None = None) -> str:
    """Prepare what a command wrote as the result of a tool is prepared.

    Args:
        most_tokens: how long it may be; None = as long as a result of a tool.
    """
    allowed = workshop.sizing.result_tokens(workshop.log.state, 1)
    policy = InvocationPolicy(
        text_limit_tokens=allowed if most_tokens is None else min(allowed, most_tokens),
        secrets=workshop.secrets,
        nonce=workshop.nonce if workshop.settings.flag("prompt_injection_protection_enabled") else "",
        redacts=workshop.settings.flag("redaction_enabled"),
        cleans=workshop.settings.flag("output_hygiene_enabled"),
    )
    return present(Observation(status="success", summary="", text=text), policy=policy).text
