"""RED: tests that fail today for the right reason, or the tests that the user supplied, verified the same way."""

from __future__ import annotations

from agentforge.canonical import digest_value
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.inspection import nothing_to_test
from agentforge.pipeline.model.revisits import demanded_alike
from agentforge.pipeline.model.stage import CHANGING, Json, Stage, items, texts
from agentforge.testing.outcome import without_parameters


def needs_model(state: RunState) -> bool:
    """Supplied tests are verified, never rewritten; where every requirement is verified by inspection there is none to write."""
    return not state.brief.tests and not nothing_to_test(state)


def draft(state: RunState) -> dict[str, object]:
    """The supplied files (their tests are known once they were collected); an empty suite where nothing is to be tested."""
    return {"test_files": [{"path": path, "tests": []} for path in state.brief.tests]}


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The suite with the mapping of requirements to tests and the measured verification fields."""
    if state.review.reopened is not None and state.review.reopened.open:
        draft = joined_suite(state, draft)
    draft = with_measured_kinds(draft, facts)
    files = _supplied(state, facts) if state.brief.tests else [dict(item) for item in items(draft.get("test_files"))]
    spec = state.work.artifacts.get("spec", {})
    mapping: dict[str, list[str]] = {}
    for file in files:
        for test in items(file.get("tests")):
            for ref in _requirements_of(test):
                mapping.setdefault(ref, []).append(f"{file.get('path')}::{test.get('name')}")
    body: dict[str, object] = {"test_files": files, "coverage_mapping": mapping}
    if items(draft.get("equivalent_mutants")):
        body["equivalent_mutants"] = items(draft.get("equivalent_mutants"))
    return {
        "suite_id": f"suite-{digest_value([body, facts.get('frozen', {})])[:12]}",
        "spec_ref": spec.get("spec_id", ""),
        **body,
        "verification": {
            "all_tests_fail": facts.get("all_tests_fail") is True,
            "no_implementation_exists": facts.get("no_implementation_exists") is True,
        },
    }


def joined_suite(state: RunState, draft: Json) -> dict[str, object]:
    """A draft that only adds tests, joined to the suite that had passed; what it says of files of that suite is ignored."""
    before = state.work.artifacts.get("red", {})
    files = [dict(item) for item in items(before.get("test_files"))]
    known = {file.get("path") for file in files}
    files += [dict(item) for item in items(draft.get("test_files")) if item.get("path") not in known]
    answers = [*items(before.get("equivalent_mutants")), *items(draft.get("equivalent_mutants"))]
    return {"test_files": files, **({"equivalent_mutants": answers} if answers else {})}


def with_measured_kinds(suite: Json, facts: Json) -> dict[str, object]:
    """Give the tests of a suite the kinds that they turned out to have; with one failing row a test is a target."""
    kinds: dict[str, str] = {}
    for row in items(facts.get("tests")):
        name = without_parameters(str(row.get("id")))
        kinds[name] = "target" if "target" in (kinds.get(name), row.get("kind")) else str(row.get("kind"))
    files = []
    for file in items(suite.get("test_files")):
        tests = [
            {**test, "kind": kinds.get(f"{file.get('path')}::{test.get('name')}") or test.get("kind", "target")}
            for test in items(file.get("tests"))
        ]
        files.append({**file, "tests": tests})
    return {**suite, "test_files": files}


def _requirements_of(test: Json) -> list[str]:
    """The requirement that a test names, and those whose criteria it shows: `REQ-001.2, REQ-002.1`."""
    shown = (part.strip().partition(".") for part in str(test.get("acceptance_criterion", "")).split(","))
    others = [ref for ref, _, number in shown if ref.startswith("REQ-") and number.isdigit()]
    return list(dict.fromkeys([str(test.get("requirement_ref", "")), *others]))


def _supplied(state: RunState, facts: Json) -> list[dict[str, object]]:
    """The collected tests of the supplied files; the user vouches that they cover every criterion of every requirement."""
    out: list[dict[str, object]] = []
    for path in state.brief.tests:
        rows = [row for row in items(facts.get("tests")) if str(row.get("id", "")).startswith(f"{path}::")]
        tests = [
            {
                "name": str(row["id"]).split("::", 1)[1],
                "requirement_ref": requirement.get("id", ""),
                "acceptance_criterion": ", ".join(_numbers(requirement)),
                "kind": row.get("kind", "target"),
            }
            for row in rows
            for requirement in items(state.work.artifacts.get("spec", {}).get("requirements"))
        ]
        out.append({"path": path, "tests": tests})
    return out


def _numbers(requirement: Json) -> list[str]:
    count = len(texts(requirement.get("acceptance_criteria")))
    return [f"{requirement.get('id')}.{number}" for number in range(1, count + 1)]


STAGE = Stage(
    name="red",
    produces="test_suite",
    consumes=("analyze", "spec"),
    purpose="tests that fail for the right reason",
    criteria=(
        "every acceptance criterion has a test with exact values",
        "every target test fails today for the right reason, every guard passes",
        "no product file is touched",
    ),
    tools=("write_file", "edit", "append_file", "move_file", "read_file", "grep", "run_tests", "submit_artifact"),
    writes="tests",
    followed_by="green",
    omit=("suite_id", "spec_ref", "coverage_mapping", "verification", "equivalent_mutants"),
    actions=CHANGING,
    needs_model=needs_model,
    draft=draft,
    complete=complete,
    still_follows=demanded_alike,
    takes_tests=True,
    asks_of_awaited=True,
    shows_whole_change=True,
)
