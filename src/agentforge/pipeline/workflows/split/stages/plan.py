"""PLAN: one request becomes parts, at least one for each repository, with what they wait for and the contracts between them."""

from __future__ import annotations

from agentforge.canonical import digest_value
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, Stage, items


def complete(_state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The draft with the commits that were looked at, under an id that is its own digest."""
    looked_at = [{"name": row.get("name"), "commit": row.get("commit")} for row in items(facts.get("repositories"))]
    body = {**{key: draft[key] for key in draft if key not in STAGE.omit}, "repositories": looked_at}
    return {"plan_id": f"plan-{digest_value(body)[:12]}", **body}


STAGE = Stage(
    name="plan",
    produces="plan",
    consumes=(),
    purpose="split the request over the named repositories",
    criteria=(
        "every named repository has a part, and every part can be understood alone",
        "what must come first comes first, and nothing waits in a circle",
        "every contract between two repositories has a version",
    ),
    tools=("ask_human", "submit_artifact"),
    omit=("plan_id", "repositories"),
    complete=complete,
)
