"""INTAKE: the request as a record, examples taken word for word."""

from __future__ import annotations

from agentforge.events.state import RunState
from agentforge.pipeline.stage import ACTIONS, Json, Stage


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The record with the request verbatim and the harness's own fields."""
    spent = state.stages["intake"]
    return {
        "request_id": state.run_id,
        "original_request": state.request,
        **{key: draft[key] for key in draft if key not in STAGE.omit},
        "metadata": {
            "intake_timestamp": state.last_at,
            "tokens_used": spent.prompt_tokens + spent.completion_tokens,
        },
    }


STAGE = Stage(
    name="intake",
    produces="intake_record",
    consumes=(),
    purpose="extract what is asked, its examples and its open questions",
    criteria=(
        "the action, target and scope of the request are named",
        "every example of the request is copied word for word",
        "only real ambiguities are listed",
    ),
    omit=("request_id", "original_request", "metadata"),
    actions=ACTIONS,
    complete=complete,
)
