"""GUARD: tests of what must stay, where no test watches the place; no call where one does or a check repairs it itself."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, Stage, items, texts


def needs_model(state: RunState) -> bool:
    """A place that no test watches, and that somebody will think about."""
    return bool(texts(state.work.facts.get("analyze", {}).get("unguarded"))) or bool(state.review.findings)


def draft(_state: RunState) -> dict[str, object]:
    """No guard is needed."""
    return {"test_files": []}


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The declared files; whether they guard was measured."""
    return {"test_files": [dict(item) for item in items(draft.get("test_files"))]}


STAGE = Stage(
    name="guard",
    produces="guard_suite",
    consumes=("analyze",),
    purpose="tests of what must stay, where no test watches the place",
    criteria=(
        "every guard passes today and asserts exact values",
        "a guard fails when the code at the place fails (measured)",
        "no product file is touched",
    ),
    tools=("write_file", "edit", "append_file", "read_file", "grep", "run_tests", "submit_artifact"),
    writes="tests",
    needs_model=needs_model,
    draft=draft,
    complete=complete,
    shows_whole_change=True,
)
