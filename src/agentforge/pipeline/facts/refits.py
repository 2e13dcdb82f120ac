"""GREEN's fact about tests of the base that pass with a new text alone: what they noticed before, and what they notice now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.impact import within_share
from agentforge.pipeline.facts.source_findings import words_of_people
from agentforge.pipeline.facts.test_adequacy import mutation_bounds
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.suite import Edits
from agentforge.testing.outcome import file_of
from agentforge.verification.refits.comparison import Refits, told_of_refits
from agentforge.verification.refits.measurement import measure_refits
from agentforge.verification.source.test_hashes import FrozenTests

_GONE = "is gone; it fails on the tree as the base has it, and no other case of its test took its place"


def refit_facts(state: RunState, runtime: Runtime, facts: Json, *, tree: str, edits: Edits) -> dict[str, object]:
    """Measure it on a tree that passes.

    Args:
        facts: of GREEN so far.
    Returns:
        {refits: see measure_refits, belongs_to: rows for RED, whose tests and fixtures they are}.
    """
    frozen = FrozenTests(files=cast("Mapping[str, str]", state.work.facts.get("red", {}).get("frozen_files") or {}))
    new = (*frozen.whole, *frozen.parts)
    ids = [*texts(facts.get("refitted")), *texts(facts.get("rewritten"))]
    impact = state.work.facts.get("impact", {})
    near = within_share(state, runtime, [*texts(impact.get("nearest")), *texts(impact.get("tests"))])
    refits = Refits(
        refitted=texts(facts.get("refitted")),
        rewritten=texts(facts.get("rewritten")),
        beside=tuple(dict.fromkeys([*(path for path in new if path in _files(state)), *map(file_of, ids), *near])),
        told=words_of_people(state),
    )
    passing = facts.get("all_tests_pass") is True and facts.get("no_regressions") is True
    if passing:
        fact = measure_refits(
            bounded_rig(state, runtime), refits, base_tree=state.work.trees["baseline"], tree=tree, edits=edits,
            bounds=mutation_bounds(state, runtime),
        )  # fmt: skip
    else:
        fact = told_of_refits(refits, "not measured: the tree is refused for other reasons")
    thinned = [{"id": one, "path": file_of(one), "function": "", "text": _GONE} for one in texts(facts.get("thinned"))]
    fact["lost"] = [*items(fact["lost"]), *thinned]
    rows = [
        {"stage": "red", "rule": "refits-hold", "path": one["path"], "message": f"{one['id']} {one['text']}"}
        for one in items(fact["lost"])
    ]
    return {"refits": fact, "belongs_to": rows}


def _files(state: RunState) -> frozenset[str]:
    """The test files of RED that hold new tests."""
    return frozenset(file_of(str(one.get("id"))) for one in items(state.work.facts.get("red", {}).get("tests")))
