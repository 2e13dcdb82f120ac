"""RED opened again: the suite as it was, and new files with tests that notice what it did not notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentforge.events.state import Reopening, RunState
from agentforge.pipeline.examples import asserted_in
from agentforge.pipeline.hanging import bounded_rig
from agentforge.pipeline.honesty import words_of_people
from agentforge.pipeline.measured import Measured
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import product_scope, product_symbols, superseded_tests, vanished_names
from agentforge.pipeline.stage import Json, action_of, items, texts
from agentforge.pipeline.stages.red import joined_suite
from agentforge.pipeline.steering import red_facts
from agentforge.pipeline.strength import mutant_text
from agentforge.workspace.relevance import is_test_path


def measure_added(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    """Measure the joined suite at the base as ever, and the new tests on GREEN's tree and against what survived.

    Facts as of RED, and `added`: {changed, equivalents, tests: [{id, delivered, kills, ok, reason}]}.
    """
    from agentforge.runners.measure import Suite, measure_red

    assert state.reopened is not None
    rig, green = bounded_rig(state, runtime), state.trees[state.reopened.by]
    work = runtime.git.snapshot(runtime.worktree, index=runtime.scratch / "index")
    changes = runtime.git.changed(green, work)
    new = [one.path for one in changes if one.status == "added" and is_test_path(one.path)]
    touched = [one.path for one in changes if one.path not in new]
    tree = runtime.git.tree_with(state.reopened.tree, work, new, index=runtime.scratch / "added-index")
    spec, declared = state.artifacts.get("spec", {}), _declared(joined_suite(state, draft))
    paths = tuple(dict.fromkeys(str(row["path"]) for row in declared))
    fresh = [path for path in new if path in paths]
    tests = [{**row, "kind": ""} if row["path"] in fresh else row for row in declared]  # which kind it is, is measured
    suite = Suite(
        tests=tests,
        symbols=product_symbols(spec),
        modified=product_scope(spec),
        action=action_of(state),
        support=state.tests,
        superseded=superseded_tests(spec),
        vanished=vanished_names(spec, words_of_people(state)),
    )
    facts, evidence = measure_red(rig, suite, base_tree=state.trees["baseline"], red_tree=tree)
    sources = "\n".join((runtime.git.show(tree, path) or b"").decode("utf-8", "replace") for path in paths)
    examples = texts(state.artifacts.get("intake", {}).get("examples"))
    rows = [row for row in items(facts["tests"]) if str(row["id"]).partition("::")[0] in fresh]
    added = _judged(rows, state.reopened, runtime, work=work, files=fresh)
    listed = {mutant_text(row) for row in state.reopened.findings if row.get("rule") == "survivor"}
    answers = [row for row in items(draft.get("equivalent_mutants")) if row.get("mutant") in listed]
    facts["examples"] = [{"text": text, "found": asserted_in(text, sources)} for text in examples]
    facts |= red_facts(state, runtime, tree=tree)
    facts |= {"added": {"changed": touched, "equivalents": len(answers), "tests": added}}
    return Measured(facts=facts, evidence=evidence, tree=tree, work=work)


def _declared(suite: Json) -> list[dict[str, object]]:
    return [
        {"path": file.get("path", ""), "name": test.get("name", ""), "kind": test.get("kind", "target")}
        for file in items(suite.get("test_files"))
        for test in items(file.get("tests"))
    ]


def _judged(
    rows: list[Json], reopened: Reopening, runtime: Runtime, *, work: str, files: list[str]
) -> list[dict[str, Any]]:
    """What each new test shows: it passes on the delivered tree and notices something, or it finds the tree wrong."""
    from agentforge.runners.mutants import killed_by
    from agentforge.runners.rig import run_tree

    if not rows:
        return []
    rig = runtime.rig()
    run = run_tree(rig, work, tests=files)
    ids = [str(row["id"]) for row in rows]
    passing = [one for one in ids if one in run.passed_ids]
    survivors = [one for one in reopened.findings if one.get("rule") == "survivor"]
    kills = killed_by(rig, work, survivors, tests=passing)
    return [_row(row, passing, kills) for row in rows]


def _row(row: Json, passing: list[str], kills: Mapping[str, list[str]]) -> dict[str, Any]:
    name = str(row["id"])
    noticed = [mutant for mutant, tests in kills.items() if name in tests]
    right = row.get("kind") == "target" and row.get("right_reason") is True
    delivered = name in passing
    if delivered and not noticed and not right:
        reason = "passes at the base and on the delivered tree, and notices none of what survived"
    elif not delivered and row.get("kind") == "target" and not right:
        reason = f"fails on the delivered tree, and at the base for the wrong reason: {row.get('reason', '')}"
    else:
        reason = ""
    return {"id": name, "delivered": delivered, "kills": noticed, "ok": not reason, "reason": reason}
