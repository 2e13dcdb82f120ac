"""SPEC: requirements with acceptance criteria, declared symbols, and the files that may be written."""

from __future__ import annotations

from agentforge.canonical import digest_value
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.speed import usable
from agentforge.pipeline.ledger import placement
from agentforge.pipeline.ledger.entries import ledger_of
from agentforge.pipeline.ledger.mapping import settled
from agentforge.pipeline.model.prompt_text import specification_text
from agentforge.pipeline.model.revisits import understood_alike
from agentforge.pipeline.model.stage import Json, Stage, StageQuestion


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The draft under an id that is its own digest, with a place for every ask, without measurements that cannot be made."""
    kept = usable(draft, facts)
    body = {key: kept[key] for key in kept if key not in STAGE.omit}
    if entries := ledger_of(state):
        gone = {str(number): f"not_done: a human said: {placement.LEAVE_IT}" for number in placement.left_out(state)}
        body["asks"] = settled(entries, body)[0] | gone
    return {"spec_id": f"spec-{digest_value(body)[:12]}", **body}


def questions(state: RunState) -> tuple[StageQuestion, ...]:
    """What a human says of the asks that are left out."""
    return placement.questions(state)


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
    questions=questions,
    complete=complete,
    keeps_reading=True,
    measures_any_shape=True,
    still_follows=understood_alike,
    shown=specification_text,
)
