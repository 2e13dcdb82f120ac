"""INTAKE: the request as a record, examples taken word for word."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.disputes import questions, rulings
from agentforge.pipeline.engine.rulings import kept_examples
from agentforge.pipeline.model.stage import ACTIONS, READING, Json, Stage, items, texts


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The record with the request verbatim and the harness's own fields."""
    spent = state.progress.stages["intake"]
    if rulings(state) and "examples" in draft:
        draft = {**draft, "examples": kept_examples(texts(draft["examples"]), state)}
    return {
        "request_id": state.identity.run_id,
        "original_request": state.brief.request,
        **{key: draft[key] for key in draft if key not in STAGE.omit},
        **({"asks": asks} if (asks := items(facts.get("asks"))) else {}),
        "metadata": {
            "intake_timestamp": state.progress.last_at,
            "tokens_used": spent.prompt_tokens + spent.completion_tokens,
        },
    }


def leaves_nothing_open(draft: Json) -> bool:
    """Whether every question that the record lists is minor, so that its default settles it."""
    return all(row.get("impact") == "minor" for row in items(draft.get("identified_ambiguities")))


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
    omit=("request_id", "original_request", "asks", "metadata"),
    actions=ACTIONS,
    questions=questions,
    complete=complete,
    ahead=("analyze", "spec"),
    ahead_tools=READING,
    goes_ahead=leaves_nothing_open,
    measures_any_shape=True,
)
