"""What every delivery says alike, whatever the workflow: subject, trailers, what was delivered, measured and changed. Pure.

Rows that the reports of both workflows share: questions with their answers, cost, and the limits of the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from agentforge.events.fold.delivered import judged
from agentforge.events.fold.verification import notes
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.inspection import inert_words
from agentforge.pipeline.facts.roads import file_kinds, road_notes
from agentforge.pipeline.facts.speed import speed_limits, speed_notes
from agentforge.pipeline.model.base_line import cause_lines
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.workspace.code.relevance import is_test_path

_SUBJECT_LIMIT = 72
_TITLE_LIMIT = 100


def conventional(line: str) -> str:
    """A subject line of at most 72 characters."""
    return line if len(line) <= _SUBJECT_LIMIT else line[: _SUBJECT_LIMIT - 3].rstrip() + "..."


def trailers(state: RunState, trail: tuple[str, int]) -> str:
    """The lines of a commit message that tie the commit to the trail."""
    return f"AgentForge-Task: {state.identity.run_id}\nAgentForge-Trail: {trail[0]} {trail[1]}"


def delivered_parts(state: RunState, made: Mapping[str, object], *, title: str, subject: str) -> dict[str, object]:
    """Which run delivered what, and where it stands.

    Args:
        made: what make_commit returned.
    """
    return {
        "task_id": state.identity.run_id,
        "request": state.brief.request,
        "title": title[:_TITLE_LIMIT],
        "branch": made.get("branch", ""),
        "base_commit": state.identity.base_commit,
        "commits": [{"id": made.get("commit", ""), "subject": subject}],
    }


def changed_parts(facts: Json) -> list[dict[str, object]]:
    """The changed files with their lines, and what was changed in each, where that was measured."""
    kinds = file_kinds(facts)
    return [
        {
            "path": item.get("path"),
            "lines_added": item.get("added", 0),
            "lines_removed": item.get("removed", 0),
            **({"kind": kinds[path]} if (path := str(item.get("path"))) in kinds else {}),
        }
        for item in items(facts.get("changes"))
    ]


def measured_parts(state: RunState, made: Mapping[str, object]) -> dict[str, object]:
    """What was measured on the delivered tree, with the controls."""
    facts = judged(state.work.facts, {})
    report = facts.get("conformance")
    checked = report if isinstance(report, Mapping) else {}
    return {
        "tree": made.get("tree", ""),
        "tests_run": facts.get("tests_run", 0),
        "no_regressions": facts.get("no_regressions") is True,
        "conformance_passing": checked.get("passed") is True,
        "checks": texts(checked.get("ran")),
        "controls": facts.get("controls", {}),
        "failing_at_base": state.work.facts.get("baseline", {}).get("failing", []),
    }


def product_changes(changed_lines: Mapping[str, list[str]], *, tests: set[str]) -> list[dict[str, str]]:
    """The changed line ranges of all files but the run's own tests.

    Args:
        changed_lines: path -> changed line ranges of the new file ("12-18").
    """
    return [{"path": path, "lines": ",".join(ranges)} for path, ranges in changed_lines.items() if path not in tests]


def changed_tests(facts: Json, *, tests: set[str]) -> list[str]:
    """Changed test files that are not the run's own."""
    paths = [str(item.get("path")) for item in items(facts.get("changes"))]
    return [path for path in paths if is_test_path(path) and path not in tests]


_TOLD = 6


def dependency_lines(measured: Json) -> list[str]:
    """Sentences for the report about what differs under other circumstances and does not refuse."""
    lines = list(dict.fromkeys(_lines(measured)))
    more = (
        [f"{len(lines) - _TOLD} more dependencies and effects are in the facts of GREEN"] if len(lines) > _TOLD else []
    )
    return [*lines[:_TOLD], *more]


def _lines(measured: Json) -> Iterator[str]:
    if measured.get("stopped") is True:
        yield "not every circumstance was tried: the time for repeating calls was over"
    for row in items(measured.get("found")):
        if row.get("decides") is True:
            continue
        results = f": {row['before']} became {row['after']}" if row.get("before") and row.get("after") else ""
        circumstance = str(row.get("circumstance"))
        if circumstance.startswith("and "):
            yield f"{row.get('call')} gives its result {circumstance}"
        else:
            yield f"{row.get('call')} gives another result {circumstance}{results}"
    for row in items(measured.get("effects")):
        detail = f" ({row['detail']})" if row.get("detail") else ""
        yield f"{row.get('call')} has an effect of a kind that the base had not: {row.get('kind')}{detail}"


def cost(state: RunState) -> dict[str, object]:
    """Steps, calls, tokens, money and time of a run; money is None where a price is unknown."""
    totals = state.usage.totals
    return {
        "steps": totals.steps,
        "llm_calls": totals.llm_calls,
        "prompt_tokens": totals.prompt_tokens,
        "cached_tokens": totals.cached_tokens,
        "completion_tokens": totals.completion_tokens,
        "cost_usd": round(totals.cost_usd, 6) if totals.cost_known else None,
        "duration_s": round(state.progress.active_s, 3),
    }


def answers(state: RunState) -> list[dict[str, object]]:
    """What humans were asked and answered."""
    return [
        {
            "question": item.question,
            "decision": item.resolution.decision,
            "answer": item.resolution.text,
            "by": item.resolution.by,
        }
        for item in state.people.escalations.values()
        if item.resolution is not None and item.kind != "approval"
    ]


def notes_for_reviewer(state: RunState) -> list[dict[str, str]]:
    """What refused nothing and a reviewer should know, by stage: rules of the sort "note", and what the harness repaired."""
    examined = [{"stage": EXAMINE, "rule": "examined", "note": told}] if (told := _examined(state)) else []
    facts = judged(state.work.facts, {})
    found = [{"stage": "green", "rule": "road-held", "note": told} for told in road_notes(facts)]
    found += [{"stage": "green", "rule": "faster", "note": told} for told in speed_notes(facts)]
    return (
        examined
        + found
        + [
            {
                "stage": name,
                "rule": str(row.get("rule") or row.get("repair") or ""),
                "note": str(row.get("message", "")),
            }
            for name, stage in state.progress.stages.items()
            for row in (*notes(stage.results), *stage.repairs)
        ]
    )


def _examined(state: RunState) -> str:
    """What came of the examiner's tests, and what it cost; "" where there were none."""
    rows = items(state.work.facts.get(EXAMINE, {}).get("rows"))
    counts = Counter(str(row.get("verdict")) for row in rows)
    if not counts:
        return ""
    spent = [one for one in state.usage.spending.values() if one.stage == EXAMINE]
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in spent)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    cost = f"{sum(one.calls for one in spent)} calls, {tokens} tokens"
    return f"tests written from the request and the public interface alone: {told}; {cost}"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def limits(state: RunState) -> list[str]:
    """What the verification does not say, in words."""
    out = []
    facts = judged(state.work.facts, {})
    base = state.work.facts.get("baseline", {})
    if not base.get("tests"):
        out.append("the project had no tests at the base: regressions outside the new suite cannot be seen")
    out += [f"at the base {line}: what they check is not seen" for line in cause_lines(base)]
    out += [f"of the project's own test command this was left out: {one}" for one in texts(base.get("left_out"))]
    if texts(base.get("flaky")):
        out.append(f"flaky at the base, not counted: {', '.join(texts(base.get('flaky'))[:5])}")
    unavailable = items(_mapping(facts.get("conformance")).get("unavailable"))
    if unavailable:
        names = ", ".join(str(item.get("check")) for item in unavailable)
        out.append(f"checks that could not do their work before the change either, and judged nothing: {names}")
    told = [f"{item.get('path')}:{item.get('line')}" for item in items(facts.get("told_suppressions"))]
    if told:
        out.append(f"lint rules were suppressed as the same file does elsewhere: {', '.join(told[:5])}")
    if asked := texts(facts.get("config_asked")):
        out.append(f"files that steer the tests were changed, because the request names them: {', '.join(asked[:5])}")
    if base.get("sandbox") == "none":
        out.append("no sandbox was there: tests and checks ran with the user's own rights, network included")
    elif base.get("sandbox") == "landlock":
        out.append("bubblewrap was not there: tests and checks ran under Landlock, in their own folders")
    ended = texts(state.work.facts.get("green", {}).get("superseded"))
    if ended:
        out.append(
            f"existing tests that the specification changes, so that they no longer hold: {', '.join(ended[:10])}"
        )
    out += refit_lines(state)
    inspected = [str(item.get("id")) for item in items(state.work.artifacts.get("spec", {}).get("requirements"))
                 if item.get("verification_method") == "inspection"]  # fmt: skip
    if inspected:
        measured = f"; {words}" if (words := inert_words(state)) else ""
        out.append(f"to be verified by inspection, no test was executed for: {', '.join(inspected)}{measured}")
    held_out = state.work.facts.get("green", {}).get("held_out")
    unchecked = texts(held_out.get("unchecked")) if isinstance(held_out, Mapping) else []
    if unchecked:
        out.append(f"examples that were not checked outside the test runner: {'; '.join(unchecked[:5])}")
    out += dependency_lines(_mapping(facts.get("dependencies")))
    if state.brief.left_out:
        out.append(f"uncommitted changes of the checkout were left out: {', '.join(state.brief.left_out[:5])}")
    out += speed_limits(state)
    out += [f"not examined: {why}" for why in texts([state.work.facts.get(EXAMINE, {}).get("reason")])]
    if not state.usage.totals.cost_known:
        out.append("the price of the model is unknown, so the cost is unknown")
    return out


def refit_lines(state: RunState) -> list[str]:
    """What is said of existing tests that pass with a new text alone."""
    green = state.work.facts.get("green", {})
    out = []
    what = "a fixture or helper" if "refits" in green else "a fixture"  # a report of before stays as it was
    if names := texts(green.get("refitted")):
        out.append(f"existing tests that pass only with {what} that the specification changes: {', '.join(names[:10])}")
    refits = _mapping(green.get("refits"))
    if names := texts(refits.get("not_compared")):
        why = f" ({refits.get('note')})" if refits.get("note") else ""
        out.append(
            f"existing tests that were changed, and not compared with what they noticed before{why}: {', '.join(names[:10])}"
        )
    return out
