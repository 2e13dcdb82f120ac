"""Requirement -> tests -> changed lines as they were executed, and how strong the tests are, for the delivery report. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.report import product_changes
from agentforge.pipeline.facts.test_adequacy import mutant_text
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import Json, items
from agentforge.testing.coverage import bits_of, ranges_of
from agentforge.verification.counterexamples.mutant_score import NOTHING_TO_MUTATE

_SURVIVORS, _PLACES = 20, 4


def trace(state: RunState, facts: Json, changed_lines: Mapping[str, list[str]]) -> list[dict[str, object]]:
    """Requirement -> tests -> changed product lines: those that its tests executed, else (not recorded) all of the change.

    Args:
        facts: of the delivered tree.
        changed_lines: path -> changed line ranges of the new file ("12-18").
    """
    mapping = state.work.artifacts.get("red", {}).get("coverage_mapping")
    tests = mapping if isinstance(mapping, Mapping) else {}
    changes = product_changes(changed_lines, tests=set(suite_files(state)))
    rows = {str(row.get("id")): row for row in items(_record(facts, "coverage").get("requirements"))}
    return [
        {
            "id": item.get("id", ""),
            "description": item.get("description", ""),
            "tests": list(tests.get(str(item.get("id")), [])),
            **_executed(rows.get(str(item.get("id"))), changes),
        }
        for item in items(state.work.artifacts.get("spec", {}).get("requirements"))
    ]


def shown_strength(state: RunState, facts: Json) -> dict[str, object]:
    """Untested changed lines and the mutation score with what survived."""
    coverage, mutation = _record(facts, "coverage"), _record(facts, "mutation")
    equivalent = {
        str(item.get("mutant")): item.get("reason")
        for item in items(state.work.artifacts.get("red", {}).get("equivalent_mutants"))
    }
    survivors = [
        {
            "mutant": mutant_text(row),
            "place": f"{row.get('path')}:{row.get('line')}",
            "function": row.get("function", ""),
            "tests": row.get("tests", []),
            **({"equivalent": equivalent[mutant_text(row)]} if mutant_text(row) in equivalent else {}),
        }
        for row in items(mutation.get("survivors"))
    ]
    told = {key: mutation.get(key) for key in ("score", "killed", "run", "not_run", "seed", "note") if key in mutation}
    line = untested_line(coverage, mutation, equivalent=frozenset(equivalent))
    return {
        **({"untested_line": line} if "strength_version" in facts else {}),
        "untested": [
            {key: row.get(key) for key in ("path", "lines", "function", "inert", "statements") if key in row}
            for row in items(coverage.get("untested"))
        ],
        "mutation": {**told, "survivors": survivors[:_SURVIVORS]},
    }


def untested_line(coverage: Json, mutation: Json, *, equivalent: frozenset[str] = frozenset()) -> str:
    """What the tests do not show of the change, in one line; "" where nothing of the kind was to be measured.

    Args:
        equivalent: mutants of which the author of the tests says that they change nothing.
    """
    parts = [part for part in (_survivors_told(mutation, equivalent), _unrun_told(coverage)) if part]
    shown = mutation.get("measured") is True or coverage.get("measured") is True
    if not parts:
        return _all_shown(coverage, mutation) if shown else ""
    return f"Untested: {'; '.join(parts)}"


def _survivors_told(mutation: Json, equivalent: frozenset[str]) -> str:
    if mutation.get("measured") is not True:
        note = str(mutation.get("note", ""))
        known = not mutation or mutation.get("needed") is False or note == NOTHING_TO_MUTATE
        return "" if known else f"unknown how far, because no mutants were run: {note}"
    rows = items(mutation.get("survivors"))
    left = [row for row in rows if mutant_text(row) not in equivalent]
    told = [f"{len(left)} of {mutation.get('run')} mutants survive in {_places(left)}"] if left else []
    if len(left) < len(rows):
        told.append(f"{len(rows) - len(left)} that survive change nothing, says the author of the tests")
    return "; ".join(told)


def _unrun_told(coverage: Json) -> str:
    rows = [row for row in items(coverage.get("untested")) if not row.get("inert")]
    count = sum(number for row in rows if isinstance(number := row.get("statements", 1), int))
    places = list(dict.fromkeys(f"{row.get('path')}:{row.get('lines')}" for row in rows))
    verb = "statement is" if count == 1 else "statements are"
    return f"{count} {verb} run by no test ({_listed(places)})" if count else ""


def _all_shown(coverage: Json, mutation: Json) -> str:
    told = [f"the tests notice all {mutation.get('run')} mutants"] if mutation.get("measured") is True else []
    told += ["run every changed statement"] if coverage.get("measured") is True else []
    subject = "" if mutation.get("measured") is True else "the tests "
    return f"Untested: nothing was found, {subject}{' and '.join(told)}"


def _places(rows: list[Json]) -> str:
    return _listed(list(dict.fromkeys(f"{row.get('path')}:{row.get('line')}" for row in rows)))


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - _PLACES} more places" if len(places) > _PLACES else ""
    return ", ".join(places[:_PLACES]) + more


def strength_limits(facts: Json) -> list[str]:
    """What of the tests' strength is not known, in words."""
    coverage, mutation = _record(facts, "coverage"), _record(facts, "mutation")
    out = []
    if coverage.get("measured") is not True and coverage:
        out.append(f"which lines each test executes is not known: {coverage.get('note')}")
    elif coverage.get("blind"):
        out.append("some tests start processes that could not be followed: lines executed there are not known")
    if mutation.get("measured") is not True and mutation:
        out.append(f"no mutants were run: {mutation.get('note')}")
    if mutation.get("not_run"):
        out.append(f"{mutation.get('not_run')} mutants were not run: the time for them was over")
    return out


def _executed(row: Json | None, changes: list[dict[str, str]]) -> dict[str, object]:
    if row is None:
        return {"changes": changes}
    tests = [(str(test.get("id")), items(test.get("changes"))) for test in items(row.get("tests"))]
    lines: dict[str, dict[str, None]] = {}
    for _, parts in tests:
        for part in parts:
            lines.setdefault(str(part.get("path")), {}).update(dict.fromkeys(str(part.get("lines")).split(",")))
    note = {"note": row.get("note")} if row.get("note") else {}
    return {
        "changes": [{"path": path, "lines": _joined(ranges)} for path, ranges in lines.items()],
        "executed": [
            {"test": name, "lines": "; ".join(f"{part.get('path')}:{part.get('lines')}" for part in parts)}
            for name, parts in tests
        ],
        **note,
    }


def _joined(ranges: Mapping[str, None]) -> str:
    return ",".join(ranges_of(bits_of(ranges)))


def _record(facts: Json, name: str) -> Json:
    value = facts.get(name)
    return value if isinstance(value, Mapping) else {}
