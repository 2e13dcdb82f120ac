"""RED opened again: the suite as it was, and new files with tests that notice what it did not notice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.events.state.attempt import Reopening
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.disputes import BASE, GIVEN
from agentforge.pipeline.facts.asserted_examples import asserted_examples
from agentforge.pipeline.facts.source_findings import words_of_people
from agentforge.pipeline.facts.test_adequacy import mutant_text
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.ledger.asks import asks_of
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.model.scope import product_scope, product_symbols, superseded_tests, vanished_names
from agentforge.pipeline.model.stage import Json, action_of, items, texts
from agentforge.pipeline.stages.red import joined_suite
from agentforge.suite import run_tree
from agentforge.testing.coverage import bits_of, traced_of
from agentforge.testing.outcome import file_of, name_of, without_parameters
from agentforge.verification.counterexamples.mutants import killed_by
from agentforge.verification.examples.stated_values import stated_in
from agentforge.verification.source.test_hashes import test_functions
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from agentforge.workspace.code.relevance import is_test_path


def measure_added(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    """Measure the joined suite at the base as ever, and the new tests on GREEN's tree and against what survived.

    Facts as of RED, and `added`: {changed, equivalents, tests: [{id, delivered, kills, executes, ok, counts, reason}]}. A test
    counts when it fails for a listed mutant, executes a listed untested line, or rightly fails on the tree; one that is right and
    shows nothing of this may stay, and does not count.
    """
    assert state.review.reopened is not None
    rig, green = bounded_rig(state, runtime), state.work.trees[state.review.reopened.by]
    work = runtime.git.snapshot(runtime.worktree, index=runtime.scratch / "index")
    changes = runtime.git.changed(green, work)
    new = [one.path for one in changes if one.status == "added" and is_test_path(one.path)]
    touched = [one.path for one in changes if one.path not in new]
    tree = runtime.git.tree_with(state.review.reopened.tree, work, new, index=runtime.scratch / "added-index")
    spec, declared = state.work.artifacts.get("spec", {}), declared_tests(joined_suite(state, draft))
    paths = tuple(dict.fromkeys(str(row["path"]) for row in declared))
    fresh = [path for path in new if path in paths]
    tests = [{**row, "kind": ""} if row["path"] in fresh else row for row in declared]  # which kind it is, is measured
    suite = Suite(
        tests=tests,
        symbols=product_symbols(spec),
        modified=product_scope(spec),
        action=action_of(state),
        support=state.brief.tests,
        superseded=superseded_tests(spec),
        vanished=vanished_names(spec, words_of_people(state)),
    )
    facts, evidence = measure_red(rig, suite, base_tree=state.work.trees["baseline"], red_tree=tree)
    sources = "\n\0\n".join(
        stated_in(path, (runtime.git.show(tree, path) or b"").decode("utf-8", "replace")) for path in paths
    )
    rows = [row for row in items(facts["tests"]) if str(row["id"]).partition("::")[0] in fresh]
    added = _judged(rows, state.review.reopened, runtime, work=work, files=fresh)
    listed = {mutant_text(row) for row in state.review.reopened.findings if row.get("rule") == "survivor"}
    answers = [row for row in items(draft.get("equivalent_mutants")) if row.get("mutant") in listed]
    facts["examples"] = asserted_examples(state, rig, sources)
    facts |= {"added": {"changed": touched, "equivalents": len(answers), "tests": added}}
    return Measured(facts=facts, evidence=evidence, tree=tree, work=work)


def declared_tests(suite: Json) -> list[dict[str, object]]:
    """List the tests that a suite declares: {path, name, kind}."""
    return [
        {"path": file.get("path", ""), "name": test.get("name", ""), "kind": test.get("kind", "target")}
        for file in items(suite.get("test_files"))
        for test in items(file.get("tests"))
    ]


def _judged(
    rows: list[Json], reopened: Reopening, runtime: Runtime, *, work: str, files: list[str]
) -> list[dict[str, Any]]:
    """What each new test shows: it passes on the delivered tree and notices something, or it finds the tree wrong."""
    if not rows:
        return []
    rig = runtime.rig()
    unrun = _unrun(reopened.findings)
    run = run_tree(
        rig, work, tests=files, trace=bool(unrun) and rig.plan.language == "python", traced_files=sorted(unrun)
    )
    ids = [str(row["id"]) for row in rows]
    passing = [one for one in ids if one in run.passed_ids]
    survivors = [one for one in reopened.findings if one.get("rule") == "survivor"]
    kills = killed_by(rig, work, survivors, tests=passing)
    traced = traced_of(run, product=unrun).tests if unrun else {}
    executed = {
        name: [path for path, lines in unrun.items() if traced.get(name, {}).get(path, 0) & lines] for name in passing
    }
    return [_row(row, passing, kills, executed) for row in rows]


def _unrun(findings: Sequence[Json]) -> dict[str, int]:
    """The lines that no test executed, as bits by path."""
    found: dict[str, int] = {}
    for one in findings:
        if one.get("rule") == "untested" and one.get("lines"):
            path = str(one["path"])
            found[path] = found.get(path, 0) | bits_of(str(one["lines"]).split(","))
    return found


def _row(
    row: Json, passing: list[str], kills: Mapping[str, list[str]], executed: Mapping[str, list[str]]
) -> dict[str, Any]:
    name = str(row["id"])
    noticed = [mutant for mutant, tests in kills.items() if name in tests]
    runs = executed.get(name, [])
    right = row.get("kind") == "target" and row.get("right_reason") is True
    delivered = name in passing
    wrong = not delivered and row.get("kind") == "target" and not right
    if wrong:
        reason = f"fails on the delivered tree, and at the base for the wrong reason: {row.get('reason', '')}"
    elif delivered and not noticed and not runs:
        reason = "passes on the delivered tree, notices none of what survived and runs no line that no test ran"
    else:
        reason = ""
    return {
        "id": name, "delivered": delivered, "kills": noticed, "executes": runs, "ok": not wrong, "counts": not reason,
        "reason": reason,
    }  # fmt: skip


_ROWS = 5
_WHOLE = 700
"""Characters up to which a request is shown whole."""
_SENTENCES = 3
_WORD = re.compile(r"\w{3,}|\d+")


def unmet_facts(state: RunState, runtime: Runtime, facts: Json) -> dict[str, object]:
    """The failing tests that the user supplied, and those of the repository that pass no more, each with its line.

    Returns:
        {unmet_tests: {request, rows: [{by, where, quote, path, test}]}}; {} when there are none.
    """
    suite = facts.get("suite")
    failing = {
        str(row.get("id")): str(row.get("text"))
        for row in items(suite.get("failing") if isinstance(suite, dict) else ())
    }
    given = {name: text for name, text in failing.items() if file_of(name) in state.brief.tests}
    lost = dict.fromkeys(texts(facts.get("regressions")), str(facts.get("failing_text") or ""))
    named = [
        *((GIVEN, name, text) for name, text in given.items()),
        *((BASE, name, text) for name, text in lost.items()),
    ]
    rows = [_unmet_row(by, name, text, state, runtime) for by, name, text in named[:_ROWS]]
    if not rows:
        return {}
    return {
        "unmet_tests": {
            "request": _shown(state.brief.request, " ".join(str(row["quote"]) for row in rows)),
            "rows": rows,
        }
    }


def _unmet_row(by: str, test_id: str, text: str, state: RunState, runtime: Runtime) -> dict[str, object]:
    path, test = file_of(test_id), name_of(without_parameters(test_id))
    tree = state.work.trees.get("red", "") if by == GIVEN else state.work.trees.get("baseline", "")
    source = (runtime.git.show(tree, path) or b"") if tree else b""
    lines = source.decode("utf-8", "replace").splitlines()
    first, last = _reach(source, test, len(lines))
    found = [int(number) for number in re.findall(rf"{re.escape(path)}:(\d+)", text)]
    line = next((number for number in reversed(found) if first <= number <= last), first)
    quote = lines[line - 1].strip() if 0 < line <= len(lines) else test
    return {"by": by, "where": f"{path}:{line}", "quote": quote, "path": path, "test": test}


def _reach(source: bytes, test: str, count: int) -> tuple[int, int]:
    """The first and the last line of a test; the whole file where its language is another."""
    nodes = [node for name, node, _classes in test_functions(source) if name == test]
    return (nodes[0].lineno, nodes[0].end_lineno or count) if nodes else (1, count)


def _shown(request: str, quotes: str) -> str:
    """The request, or of a long one the asks that share most words and numbers with the tests."""
    if len(request) <= _WHOLE:
        return " ".join(request.split())
    wanted = set(_WORD.findall(quotes))
    parts = [request[one.start : one.end] for one in asks_of(request)]
    ranked = sorted(range(len(parts)), key=lambda place: -len(wanted & set(_WORD.findall(parts[place]))))
    return " ... ".join(" ".join(parts[place].split()) for place in sorted(ranked[:_SENTENCES]))[:_WHOLE]
