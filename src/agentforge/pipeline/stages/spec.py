"""SPEC: requirements with acceptance criteria, declared symbols, and the files that may be written."""

from __future__ import annotations

from agentforge.canonical import digest_value
from agentforge.events.state import RunState
from agentforge.pipeline.stage import Json, Stage


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The draft under an id that is its own digest."""
    body = {key: draft[key] for key in draft if key not in STAGE.omit}
    return {"spec_id": f"spec-{digest_value(body)[:12]}", **body}


STAGE = Stage(
    name="spec",
    produces="specification",
    consumes=("intake", "clarify", "analyze"),
    purpose="requirements, acceptance criteria, symbols and files",
    criteria=(
        "every requirement has criteria with concrete inputs and exact results",
        "every example of the request stands in a criterion",
        "all product files to be written are listed",
    ),
    tools=("read_file", "grep", "find_symbol", "ask_human", "submit_artifact"),
    omit=("spec_id",),
    complete=complete,
)
