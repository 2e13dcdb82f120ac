"""What the harness says itself on the road of small models: record, analysis, specification, suite. Pure."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import items
from agentforge.pipeline.small_models.generation.suite_template import rendered_tests, test_path
from agentforge.pipeline.small_models.generation.units import CHOSEN, Unit, claims_by_unit, oracle, scenes, units_of
from agentforge.pipeline.small_models.reading.bug_reports import is_report, report_draft
from agentforge.pipeline.small_models.reading.request_parser import (
    action_of_request,
    claims_of_request,
    contradictory,
    examples_of,
    own_words,
    words_of,
)
from agentforge.pipeline.small_models.reading.stateful_examples import staged_calls
from agentforge.pipeline.small_models.refactoring.requests import wanted_change
from agentforge.pipeline.small_models.refactoring.syntax_tree import by_tree, suite_rows
from agentforge.verification.examples.claims import claims_in

_TITLE = 100


def intake_draft(state: RunState) -> dict[str, object]:
    """The request as a record: action by its verbs, examples word for word, contradictions as what blocks."""
    request = state.brief.request
    action, wanted = action_of_request(request), wanted_change(state)
    if wanted is not None:
        action = "delete" if wanted.what == "delete" else "refactor"
    elif action in ("refactor", "delete") and claims_of_request(request):
        action = "modify"
    named = [claim.call.partition("(")[0] for claim in claims_of_request(request)]
    target = ", ".join(dict.fromkeys(named)) or " ".join(sorted(words_of(request), key=request.find)[:6])
    return {
        "goal": " ".join(request.split())[:300],
        "examples": list(examples_of(request)),
        "extracted_intent": {"action": action, "target": target or "the request", "scope": "module"},
        "initial_complexity": "simple",
        "identified_ambiguities": [
            _contradiction(call, state) for call in contradictory(request) if call not in staged_calls(request)
        ],
    }


def _contradiction(call: str, state: RunState) -> dict[str, object]:
    results = [claim.text for claim in claims_of_request(state.brief.request) if claim.call == call]
    told = f" ({results[0]} is one of them)" if results else ""
    return {
        "area": "examples",
        "question": f"The request gives two different results for {call}{told}. Which one is right?",
        "impact": "blocking",
        "default": results[0] if results else call,
    }


def analysis_draft(state: RunState, place: str = "") -> dict[str, object]:
    """Where the work is.

    Args:
        place: what the model chose among the options, "" when nothing was open.
    """
    if is_report(state):
        return report_draft(state)
    units = units_of(state)
    file, _, name = place.partition("::")
    files = [unit.file for unit in units if unit.file] or ([file] if file else [])
    known = _known_files(state)
    symbols: list[dict[str, object]] = [
        {"name": unit.name, "file": unit.file, "line": max(unit.line, 1), "role": f"is {unit.change}"}
        for unit in units
        if unit.change == "changed" and unit.file
    ]
    chosen: list[dict[str, object]] = [{"name": name, "file": file, "role": CHOSEN}] if name else []
    existing = [path for path in dict.fromkeys([*([file] if file else []), *files]) if path in known]
    change = by_tree(state)
    if change is not None:
        existing, symbols = list(change.modified), [dict(row) for row in change.seen]
    return {
        "summary": _summary(units, place),
        "modules": [{"path": path, "purpose": "holds what is worked on"} for path in existing],
        "symbols": [*symbols, *chosen],
        "impacted_files": existing,
        "conventions": [],
        "risks": [],
        "constraints": [],
    }


def spec_draft(state: RunState, candidates: tuple[str, ...] = ()) -> dict[str, object]:
    """One requirement for each unit, its examples as the criteria.

    Args:
        candidates: examples of a model that nobody has confirmed yet; they are asked about and never become criteria.
    """
    units, known, change = units_of(state), _known_files(state), by_tree(state)
    claims = claims_by_unit(state)
    files = list(dict.fromkeys(unit.file for unit in units if unit.file))
    requirements = [
        {
            "id": requirement_id(number),
            "description": f"{unit.name} does what the request asks: {' '.join(state.brief.request.split())[:400]}",
            "priority": "must",
            "acceptance_criteria": _criteria(state, unit, [claim.text for claim in claims[unit.name]]),
            "verification_method": "test",
        }
        for number, unit in enumerate(units, 1)
    ]
    draft: dict[str, object] = {
        "title": (f"{', '.join(unit.name for unit in units)}: " + " ".join(state.brief.request.split()))[:_TITLE],
        "description": " ".join(state.brief.request.split())[:1000],
        "requirements": requirements,
        "symbols": [dict(row) for row in change.symbols] if change else [_symbol(unit) for unit in units],
        "files_to_modify": list(change.modified) if change else [path for path in files if path in known],
        "files_to_create": list(change.created) if change else [path for path in files if path not in known],
        "trace_to_request": "one requirement for each function that is worked on; its examples are the person's own words",
    }
    return {**draft, "examples": [_example(text) for text in candidates]} if candidates else draft


def suite_draft(state: RunState) -> dict[str, object]:
    """The tests that are rendered from the examples."""
    rows: dict[str, list[dict[str, object]]] = {}
    for number, unit in enumerate(units_of(state), 1):
        for position, test in enumerate(rendered_tests(state, unit), 1):
            row: dict[str, object] = {
                "name": test.name,
                "requirement_ref": requirement_id(number),
                "acceptance_criterion": f"{requirement_id(number)}.{position}",
                "kind": "target",
            }
            rows.setdefault(test_path(state, unit), []).append(row)
    change = by_tree(state)
    files = suite_rows(change, requirement_id(1)) if change else []
    return {"test_files": [*files, *({"path": path, "tests": tests} for path, tests in rows.items())]}


def requirement_id(number: int) -> str:
    """The id of the requirement of unit `number`, from 1."""
    return f"REQ-{number:03d}"


def has_oracle(state: RunState) -> bool:
    """Whether a person has said what is right: by examples, by tests, or by an answer."""
    return bool(state.brief.tests or oracle(state) or by_tree(state))


def _known_files(state: RunState) -> frozenset[str]:
    modules = state.work.facts.get("places", {}).get("modules")
    return frozenset(modules) if isinstance(modules, dict) else frozenset()


def _summary(units: tuple[Unit, ...], place: str) -> str:
    rows = [
        f"{unit.name} ({unit.kind}) in {unit.file or place or 'a file to be chosen'}, {unit.change}" for unit in units
    ]
    return "; ".join(rows) or f"the change belongs to {place or 'nothing that was found'}"


def _criteria(state: RunState, unit: Unit, told: list[str]) -> list[str]:
    """The examples of a unit, those of the request in its own words; the user's tests where there are none."""
    own = own_words(state.brief.request)
    staged = {one.claim.text: one.told for one in scenes(state)}
    said = [staged.get(text) or own.get(text, text) for text in told]
    if said:
        return said
    change = by_tree(state)
    if change is not None:
        return [change.criterion]
    return [f"the supplied tests of {unit.name} pass" if state.brief.tests else f"{unit.name} does what was asked"]


def _symbol(unit: Unit) -> dict[str, object]:
    return {"name": unit.name, "file": unit.file, "kind": unit.kind, "change": unit.change}


def _example(text: str) -> dict[str, object]:
    found = claims_in(text)
    claim = found[0]
    return {"call": claim.call, **({"raises": claim.raises} if claim.raises else {"returns": claim.returns})}


def candidates_of(state: RunState) -> tuple[str, ...]:
    """The examples of a model that wait for a person, as one line each."""
    draft = state.review.submission.draft if state.review.submission else {}
    rows = []
    for item in items(draft.get("examples")):
        result = f"raises {item.get('raises')}" if item.get("raises") else f"-> {item.get('returns')}"
        rows.append(f"{item.get('call')} {result}")
    return tuple(rows)
