"""Judging artifacts: good ones pass, every spoiled one fails at the right rule and place, and nothing stops early."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from agentforge.contracts.catalogue import ContractSet
from agentforge.contracts.check import CheckResult, check
from agentforge.contracts.dialect import parse_contract
from agentforge.contracts.rule import none_of
from agentforge.errors import ContractInvalid

NAMES = (
    "intake_record",
    "clarification",
    "analysis",
    "specification",
    "test_suite",
    "implementation",
    "deliverable",
    "delivery_report",
)


def judge(contracts: ContractSet, name: str, artifacts: dict[str, Any], facts: dict[str, Any]) -> CheckResult:
    return check(contracts.get(name), artifacts[name], facts=facts[name], inputs=artifacts)


def put(record: Any, path: str, value: Any) -> None:
    """Set a value by a path like `requirements.0.id`; `DELETE` removes it."""
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        record = record[part]
    if value == "DELETE":
        del record[last]
    else:
        record[last] = value


@pytest.mark.parametrize("name", NAMES)
def test_a_good_artifact_passes_every_rule(name: str, contracts: ContractSet, artifacts: Any, facts: Any) -> None:
    result = judge(contracts, name, artifacts, facts)
    assert [failure.message for failure in result.failures] == []
    assert result.passed
    assert [item.rule for item in result.results].count("schema") == 1
    assert len(result.results) == 1 + len(contracts.get(name).rules)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_may_be_named_by_stage(name: str, contracts: ContractSet, artifacts: Any, facts: Any) -> None:
    stages = dict(
        zip(NAMES, ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"), strict=True)
    )
    inputs = {stages[key]: value for key, value in artifacts.items()}
    assert check(contracts.get(name), artifacts[name], facts=facts[name], inputs=inputs).passed


def test_the_seeds_own_clarification_passes(contracts: ContractSet) -> None:
    questions = [
        {
            "question": "Should OAuth2 support refresh tokens?",
            "source": "agent_inference",
            "answer": "Yes - existing auth patterns use refresh tokens",
            "confidence": 0.92,
            "evidence": [{"file": "auth/token_manager.py", "snippet": "def refresh_token(...):"}],
        },
        {
            "question": "Which OAuth2 providers to support?",
            "source": "agent_inference",
            "answer": "Google and GitHub - found in existing config",
            "confidence": 0.88,
            "evidence": [{"file": "config/auth_providers.yaml"}],
        },
        {
            "question": "Should PKCE flow be required?",
            "source": "human_escalation",
            "answer": "Yes, PKCE required for all public clients",
            "confidence": 1.0,
            "resolved_by": "user",
            "resolved_at": "2025-12-31T10:15:00Z",
        },
    ]
    asked = [{"question": item["question"], "impact": "blocking"} for item in questions]
    evidence = [
        {"question": q["question"], "file": q["evidence"][0]["file"], "ok": True, "reason": ""} for q in questions[:2]
    ]
    result = check(
        contracts.get("clarification"),
        {"questions": questions},
        facts={"evidence": evidence},
        inputs={"intake_record": {"identified_ambiguities": asked}},
    )
    assert result.failures == ()


def test_dependencies_may_be_the_object_of_the_seed(contracts: ContractSet, artifacts: Any, facts: Any) -> None:
    artifacts["specification"]["dependencies"] = {
        "external": [{"repo": "data-layer", "artifact": "user_events_schema", "version": ">=1.2.0"}],
        "tasks": [{"task_id": "task-xyz-user-events", "required_stage": "deliver", "reason": "events schema"}],
    }
    assert judge(contracts, "specification", artifacts, facts).passed
    facts["specification"]["dependency_cycle"] = ["a", "b", "a"]
    assert "a -> b -> a" in judge(contracts, "specification", artifacts, facts).failures[0].message
    del facts["specification"]["dependency_cycle"]
    assert [f.rule for f in judge(contracts, "specification", artifacts, facts).failures] == ["no-cycles"]


SCHEMA_CASES = [
    ("intake_record", "original_request", "DELETE", "original_request", "original_request is missing - add a string"),
    ("intake_record", "extracted_intent.action", "invent", "extracted_intent.action", 'extracted_intent.action "invent" is not allowed - write one of create, modify,'),
    ("intake_record", "metadata.intake_timestamp", "today", "metadata.intake_timestamp", "is no date-time - write a string in the format date-time like 2025-12-31T10:15:00Z"),
    ("clarification", "questions.1.confidence", 1.2, "questions[1].confidence", "1.2 is above 1"),
    ("clarification", "questions.0.source", "guess", "questions[0].source", "write one of agent_inference, human_escalation, assumption"),
    ("analysis", "modules.0.path", "DELETE", "modules[0].path", "modules[0].path is missing - add a string"),
    ("analysis", "summary", "", "summary", "is 0 characters long, at least 1"),
    ("specification", "title", "x" * 101, "title", "is 101 characters long, at most 100"),
    ("specification", "requirements", [], "requirements", "requirements [] has 0 entries, at least 1 - write a list of objects"),
    ("specification", "requirements.1.id", "REQ-2", "requirements[1].id", 'requirements[1].id "REQ-2" does not match ^REQ-[0-9]{3}$ - write a string matching ^REQ-[0-9]{3}$ like "REQ-001"'),
    ("specification", "dependencies", {"tasks": [{"task_id": "x"}]}, "dependencies", "fits none of the allowed forms - write a list of strings or an object"),
    ("specification", "dependencies", 3, "dependencies", "dependencies 3 fits none of the allowed forms"),
    ("test_suite", "verification.all_tests_fail", False, "verification.all_tests_fail", "verification.all_tests_fail was measured as false - change the work until it is true"),
    ("test_suite", "verification", {}, "verification.all_tests_fail", "verification.all_tests_fail is missing - add true"),
    ("test_suite", "test_files.0.tests.0.kind", "maybe", "test_files[0].tests[0].kind", "write one of target, guard"),
    ("test_suite", "coverage_mapping", {"REQ-001": "test_words"}, "coverage_mapping.REQ-001", "has the wrong type - write a list of strings"),
    ("implementation", "verification.no_regressions", False, "verification.no_regressions", "change the work until it is true"),
    ("implementation", "files_created.0.lines", "twelve", "files_created[0].lines", '"twelve" has the wrong type - write a whole number'),
    ("deliverable", "tree", "HEAD", "tree", "does not match"),
    ("delivery_report", "commits", [], "commits", "has 0 entries"),
    ("delivery_report", "cost.cost_usd", -1, "cost.cost_usd", "-1 is below 0"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "value", "place", "told"), SCHEMA_CASES)
def test_a_schema_failure_names_place_value_and_what_to_write(
    name: str, path: str, value: Any, place: str, told: str, contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    put(artifacts[name], path, value)
    failures = [item for item in judge(contracts, name, artifacts, facts).failures if item.rule == "schema"]
    assert place in [item.path for item in failures]
    assert told in " | ".join(item.message for item in failures)
    ours = jsonschema_rs.Draft202012Validator(dict(contracts.get(name).json_schema), validate_formats=True)
    assert len(failures) == len(list(ours.iter_errors(artifacts[name])))


RULE_CASES = [
    ("intake_record", "facts.examples.0.found", False, "examples-verbatim"),
    ("intake_record", "facts.examples", "DELETE", "examples-verbatim"),
    ("intake_record", "identified_ambiguities.0.question", " ", "ambiguities-named"),
    ("intake_record", "identified_ambiguities.0.default", "DELETE", "defaults-named"),
    ("clarification", "facts.evidence.0.ok", False, "evidence-checked"),
    ("clarification", "facts.evidence", "DELETE", "evidence-checked"),
    ("clarification", "facts.evidence.0.file", "other.py", "evidence-checked"),
    ("clarification", "questions.1.evidence", [], "evidence-checked"),
    ("clarification", "questions.1.source", "assumption", "blocking-answered"),
    ("clarification", "questions.1.answer", " ", "blocking-answered"),
    ("clarification", "questions.0", "DELETE", "ambiguities-settled"),
    ("clarification", "questions.2.resolved_by", "DELETE", "humans-named"),
    ("analysis", "facts.paths.0.exists", False, "files-found"),
    ("analysis", "impacted_files.0", "gone.py", "files-found"),
    ("analysis", "impacted_files.0", "/etc/passwd", "relative-paths"),
    ("analysis", "facts.symbols.0.found", False, "symbols-found"),
    ("analysis", "symbols.0.name", "invented", "symbols-found"),
    ("analysis", "facts.baseline", "DELETE", "baseline-measured"),
    ("analysis", "facts.baseline.canary", "broken", "baseline-measured"),
    ("analysis", "facts.baseline.measured", False, "baseline-measured"),
    ("analysis", "facts.baseline", {}, "baseline-measured"),
    ("specification", "requirements.0.acceptance_criteria", ["  "], "acceptance-criteria"),
    ("specification", "files_to_modify.0", "../names.py", "relative-paths"),
    ("specification", "files_to_create.0", "C:/x.py", "relative-paths"),
    ("specification", "symbols.0.file", "a\\b.py", "relative-paths"),
    ("specification", "files_to_create.0", ".git/hooks/pre-commit", "relative-paths"),
    ("specification", "files_to_create.0", "a//b.py", "relative-paths"),
    ("specification", "files_to_create.0", "~/x.py", "relative-paths"),
    ("specification", "files_to_create.0", "a\nb.py", "relative-paths"),
    ("specification", "requirements.1.id", "REQ-001", "unique-ids"),
    ("specification", "requirements.1.id", "DELETE", "unique-ids"),
    ("specification", "facts.existing", [], "modified-exist"),
    ("specification", "facts.existing", "DELETE", "created-absent"),
    ("specification", "facts.existing", ["names.py", "slugs.py"], "created-absent"),
    ("specification", "files_to_create.0", "names.py", "scope-named"),
    ("specification", "symbols.0.file", "other.py", "symbols-in-scope"),
    ("specification", "facts.symbols.0.exists", True, "symbols-agree"),
    ("specification", "facts.symbols.1.exists", False, "symbols-agree"),
    ("specification", "facts.symbols", "DELETE", "symbols-agree"),
    ("specification", "facts.claims.rows.0", {"number": 0, "ok": False, "reason": "'f' is no call"}, "examples-checkable"),
    ("specification", "facts.claims.rows", [], "examples-checkable"),
    ("specification", "facts.claims", "DELETE", "examples-checkable"),
    ("specification", "requirements.0.acceptance_criteria.0", "words", "examples-kept"),
    ("specification", "asks", {"1": ["REQ-001"], "2": "unsaid"}, "asks-placed"),
    ("specification", "asks", "DELETE", "asks-placed"),
    ("test_suite", "test_files.0.tests.2.requirement_ref", "REQ-001", "requirements-tested"),
    ("test_suite", "test_files.0.tests.1.acceptance_criterion", "no hyphen", "criteria-mapped"),
    ("test_suite", "test_files.0.tests.2.acceptance_criterion", "2", "criteria-mapped"),
    ("test_suite", "test_files.0.tests.0.acceptance_criterion", "REQ-001.3", "criteria-mapped"),
    ("test_suite", "test_files.0.tests.3.requirement_ref", "REQ-009", "references-known"),
    ("test_suite", "coverage_mapping.REQ-002", ["test_gone"], "references-known"),
    ("test_suite", "facts.all_tests_fail", False, "all-tests-fail"),
    ("test_suite", "facts.all_tests_fail", "DELETE", "all-tests-fail"),
    ("test_suite", "facts.tests.0.outcome", "passed", "all-tests-fail"),
    ("test_suite", "facts.tests.0.outcome", "skipped", "all-tests-fail"),
    ("test_suite", "facts.tests.0.right_reason", False, "right-reason"),
    ("test_suite", "facts.tests.0.right_reason", "DELETE", "right-reason"),
    ("test_suite", "facts.turned_guard", ["tests/test_slugs.py::test_words"], "kinds-measured"),
    ("test_suite", "facts.tests.3.outcome", "failed", "guards-pass"),
    ("test_suite", "facts.guards_pass", "DELETE", "guards-pass"),
    ("test_suite", "facts.no_implementation_exists", False, "not-implemented"),
    ("test_suite", "facts.product_changed", ["slugs.py"], "product-untouched"),
    ("test_suite", "facts.declared_missing", ["test_words"], "all-collected"),
    ("test_suite", "facts.collection_errors", [{"id": "t.py", "right_reason": False, "reason": "SyntaxError"}], "collected-cleanly"),
    ("test_suite", "facts.duplicates", ["test_words"], "no-duplicates"),
    ("test_suite", "facts.existing_changed", [{"id": "t::old", "text": "was changed"}], "existing-kept"),
    ("test_suite", "facts.existing_changed", "DELETE", "existing-kept"),
    ("test_suite", "facts.stub_survivors", [{"stub": "returns None", "id": "test_words"}], "stubs-red"),
    ("test_suite", "facts.stubs_run", 0, "stubs-red"),
    ("test_suite", "facts.stubs_run", "DELETE", "stubs-red"),
    ("test_suite", "facts.frozen_files", {}, "tests-frozen"),
    ("test_suite", "facts.examples.0.found", False, "examples-asserted"),
    ("test_suite", "facts.examples", "DELETE", "examples-asserted"),
    ("test_suite", "facts.controls.held", False, "controls-held"),
    ("test_suite", "facts.controls.stubs", False, "controls-held"),
    ("test_suite", "facts.controls.timed_out", True, "controls-held"),
    ("test_suite", "facts.controls.canary", "broken", "controls-held"),
    ("test_suite", "facts.controls.agree", False, "controls-held"),
    ("test_suite", "facts.controls", "DELETE", "controls-held"),
    ("implementation", "facts.all_tests_pass", False, "suite-passes"),
    ("implementation", "facts.suite.failing", [{"id": "t::a", "text": "assert 1 == 2"}], "suite-passes"),
    ("implementation", "facts.tests_run", 0, "suite-passes"),
    ("implementation", "facts.suite", "DELETE", "suite-passes"),
    ("implementation", "facts.conformance", "DELETE", "conformance"),
    ("implementation", "facts.conformance.passed", False, "conformance"),
    ("implementation", "facts.conformance.crashed", [{"check": "mypy", "reason": "ended with 2"}], "conformance"),
    ("implementation", "facts.conformance.new", [{"path": "a.py", "line": 3, "message": "x"}], "conformance"),
    ("implementation", "facts.regressions", ["t::old"], "no-regressions"),
    ("implementation", "facts.missing", ["t::old"], "no-regressions"),
    ("implementation", "facts.missing", "DELETE", "no-regressions"),
    ("implementation", "facts.no_regressions", False, "no-regressions"),
    ("implementation", "facts.frozen_changed", ["tests/test_slugs.py::test_words"], "frozen-unchanged"),
    ("implementation", "facts.config_changed", ["conftest.py"], "runner-unchanged"),
    ("implementation", "facts.out_of_scope", ["other.py"], "within-scope"),
    ("implementation", "facts.checks_changed", ["ruff.toml"], "checks-unchanged"),
    ("implementation", "facts.new_suppressions", [{"path": "a.py", "line": 2, "text": "# noqa"}], "no-suppressions"),
    ("implementation", "facts.flaky", ["tests/test_slugs.py::test_words"], "not-flaky"),
    ("implementation", "facts.deceptions", [{"path": "a.py", "line": 3, "text": "equals anything"}], "no-deception"),
    ("implementation", "facts.held_out", {"checked": 1, "failed": [{"requirement": "REQ-001", "text": "x"}]}, "held-out"),
    ("implementation", "facts.held_out", {"checked": 1, "failed": ["?"]}, "held-out"),
    ("implementation", "facts.held_out", "DELETE", "held-out"),
    ("deliverable", "facts.held_out", "DELETE", "held-out"),
    (
        "implementation",
        "facts.dependencies",
        {"found": [{"call": "f(1)", "circumstance": "under python -O", "after": "2", "decides": True}]},
        "independent",
    ),
    ("implementation", "facts.tests_too_weak", [{"id": "t::x", "text": "passes"}], "targets-depend"),
    ("implementation", "facts.tests_too_weak", "DELETE", "targets-depend"),
    ("implementation", "facts.inert", {"passed": False, "changes": ["a.py:3 runs otherwise: x"]}, "inspection-inert"),
    ("implementation", "facts.inert", {"passed": True, "changes": ["a.py:3 runs otherwise: x"]}, "inspection-inert"),
    ("deliverable", "facts.inert", {}, "inspection-inert"),
    ("implementation", "facts.road", {"problems": [{"path": "a.md", "line": 3, "text": "leads nowhere"}]}, "road-held"),
    ("implementation", "facts.speed", {"rows": [{"verdict": "not faster", "message": "f(x): 1.0x"}]}, "faster"),
    ("specification", "facts.performance", {"asked": True, "again": False, "rows": []}, "speed-specified"),
    (
        "specification",
        "facts.performance",
        {"asked": True, "again": False, "rows": [{"statement": "f()", "ok": False, "reason": "it raises"}]},
        "speed-specified",
    ),
    ("implementation", "facts.changes", [{"path": "tests/test_slugs.py"}], "change-made"),
    ("implementation", "facts.changes", "DELETE", "change-made"),
    (
        "implementation",
        "facts.symbols_unmet",
        [{"name": "slugify", "path": "slugs.py", "reason": "is declared removed and is still there"}],
        "symbols-delivered",
    ),
    ("implementation", "facts.symbols_unmet", "DELETE", "symbols-delivered"),
    ("implementation", "facts.controls", {}, "controls-held"),
    ("implementation", "facts.coverage", "DELETE", "recorder-kept"),
    ("implementation", "facts.coverage", "DELETE", "mapping-executed"),
    ("implementation", "facts.coverage", "DELETE", "nothing-untested"),
    ("implementation", "facts.coverage.lost", "tests/test_slugs.py::test_words", "recorder-kept"),
    ("implementation", "facts.coverage.requirements.0.touches", False, "mapping-executed"),
    ("implementation", "facts.coverage.untested.0.inert", False, "nothing-untested"),
    ("implementation", "facts.refits", {"lost": [{"id": "t::old", "text": "runs f no longer"}]}, "refits-hold"),
    ("test_suite", "facts.added", {"changed": [], "equivalents": 0, "tests": []}, "added-tests-tell"),
    ("test_suite", "facts.added", {"changed": ["slugs.py"], "equivalents": 1, "tests": []}, "added-tests-tell"),
    (
        "test_suite",
        "facts.added",
        {"changed": [], "equivalents": 0, "tests": [{"id": "t::new", "ok": False, "reason": "notices none"}]},
        "added-tests-tell",
    ),
    (
        "test_suite",
        "facts.added",
        {"changed": [], "equivalents": 0, "tests": [{"id": "t::new", "ok": True, "counts": False, "reason": "notices none"}]},
        "added-tests-tell",
    ),
    ("implementation", "files_created.0.path", "/slugs.py", "relative-paths"),
    ("deliverable", "facts.conformance.passed", False, "conformance"),
    ("delivery_report", "facts.tree_matches", False, "verified-tree"),
    ("delivery_report", "facts.verified_tree", "b" * 40, "verified-tree"),
    ("delivery_report", "facts.verified_tree", "DELETE", "verified-tree"),
    ("delivery_report", "branch", "main", "delivery-named"),
    ("delivery_report", "commits.0.id", "d" * 40, "delivery-named"),
    ("delivery_report", "requirements.1.tests", [], "requirements-traced"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "value", "rule"), RULE_CASES)
def test_each_rule_finds_what_it_is_there_for_and_refuses_where_it_is_a_fact(
    name: str, path: str, value: Any, rule: str, contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    if rule == "tests-frozen":
        facts[name]["frozen"] = {}
    put(facts[name] if path.startswith("facts.") else artifacts[name], path.removeprefix("facts."), value)
    result = judge(contracts, name, artifacts, facts)
    broken = {item.rule: item for item in result.results if not item.passed}
    assert broken[rule].message
    assert result.passed is not any(item.sort == "fact" for item in broken.values())
    assert (broken[rule] in result.failures) is (broken[rule].sort == "fact")


def test_every_rule_that_a_builtin_contract_names_is_broken_by_some_case(contracts: ContractSet) -> None:
    from agentforge.contracts.rules import all_rules, find_rule

    tried = {rule for _, _, _, rule in RULE_CASES} | {"no-cycles", "has-target"}
    named = {find_rule(rule.text, source="test").rule_id for name in NAMES for rule in contracts.get(name).rules}
    assert named - tried == set()
    retired = {
        "assumptions-reported",
        "none-vacuous",
        "no-runner-hooks",
    }  # runs of older contracts verify: tests/store/test_released.py
    repairs = {"violations-present", "violations-gone", "place-guarded", "guards-still-pass"}  # test_fix_contracts.py
    plans = {
        "repositories-covered",
        "repositories-have-parts",
        "parts-named",
        "parts-in-line",
        "part-needs",
        "parts-acyclic",
        "provided-versions",
        "used-versions",
    }  # test_splitting.py
    assert {rule.rule_id for rule in all_rules()} - repairs - plans - retired == named


@pytest.mark.parametrize("name", NAMES)
def test_without_facts_no_measured_rule_holds(name: str, contracts: ContractSet, artifacts: Any) -> None:
    result = check(contracts.get(name), artifacts[name], facts={}, inputs=artifacts)
    told = [item for item in result.results if not item.passed]
    assert told
    assert all("was not measured" in item.message for item in told)
    assert result.passed is all(item.sort == "note" for item in told)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "artifact", [None, [], "x", 3, {"requirements": 3, "questions": [1], "test_files": {}, "symbols": "x"}]
)
def test_an_artifact_of_any_shape_is_judged_without_an_error(
    name: str, artifact: object, contracts: ContractSet
) -> None:
    odd = {
        "examples": 3,
        "tests": [1],
        "controls": "x",
        "suite": [],
        "conformance": {"new": 1},
        "frozen": [],
        "evidence": {},
    }
    result = check(contracts.get(name), artifact, facts=odd, inputs={})
    assert not result.passed


@pytest.mark.parametrize(
    ("action", "passed"), [("create", False), ("modify", False), ("fix", False), ("refactor", True), ("delete", True)]
)
def test_a_suite_of_guards_alone_is_enough_only_where_nothing_new_is_asked(
    action: str, passed: bool, contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    artifacts["intake_record"]["extracted_intent"]["action"] = action
    for test in facts["test_suite"]["tests"]:
        test.update(kind="guard", outcome="passed")
    facts["test_suite"]["stubs_run"] = 0
    result = judge(contracts, "test_suite", artifacts, facts)
    assert result.passed is passed
    assert [failure.rule for failure in result.failures] == ([] if passed else ["has-target"])


def test_what_the_runners_measure_on_their_honest_roads_passes(
    contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    red, green = facts["test_suite"], facts["implementation"]
    red["collection_errors"] = [
        {"id": "tests/test_slugs.py", "right_reason": True, "reason": "slugs is declared as new"}
    ]
    red["frozen"] = {}
    without_channels = {"canary": "absent", "complete": True, "agree": None, "timed_out": False, "held": True}
    red["controls"] = {**without_channels, "stubs": True}
    green["controls"] = {**without_channels, "repeats": 3}
    green["flaky"] = ["tests/test_old.py::test_that_flickers_since_ever"]
    artifacts["test_suite"]["coverage_mapping"][""] = ["test_names_stay"]
    facts["analysis"]["baseline"] |= {"measured": False, "timed_out": True, "problems": ["stopped after 600 s"]}
    assert judge(contracts, "test_suite", artifacts, facts).failures == ()
    assert judge(contracts, "implementation", artifacts, facts).failures == ()
    told = judge(contracts, "analysis", artifacts, facts).failures[0].message
    assert "stopped after 600 s; it did not end in time" in told
    artifacts["intake_record"]["extracted_intent"]["action"] = "analyze"
    assert judge(contracts, "analysis", artifacts, facts).passed


def test_all_failures_are_reported_at_once(contracts: ContractSet) -> None:
    artifact = {
        "requirements": [{"id": "REQ-1", "acceptance_criteria": []}, {"id": "REQ-1", "description": 1}],
        "files_to_modify": ["/a"],
    }
    result = check(contracts.get("specification"), artifact, facts={}, inputs={})
    assert {item.path for item in result.failures if item.rule == "schema"} >= {
        "spec_id",
        "title",
        "description",
        "requirements[0].id",
        "requirements[0].description",
        "requirements[1].description",
    }
    assert {item.rule for item in result.failures} >= {"relative-paths", "modified-exist"}
    assert {item.rule for item in result.notes} >= {"acceptance-criteria", "unique-ids"}
    assert len([item for item in result.results if item.rule != "schema"]) == len(contracts.get("specification").rules)


def test_a_run_without_controls_is_told_once(contracts: ContractSet, artifacts: Any, facts: Any) -> None:
    lost = {**facts["test_suite"]["controls"], "held": False, "canary": "absent"}
    red = {**facts["test_suite"], "all_tests_fail": False, "guards_pass": False, "controls": lost}
    result = check(contracts.get("test_suite"), artifacts["test_suite"], facts=red, inputs=artifacts)
    told = [item for item in result.results if not item.passed and not item.follows]
    assert [item.rule for item in told] == ["controls-held"]
    assert "did not run" in told[0].message


def test_what_is_found_in_several_lines_is_told_once_with_all_of_them() -> None:
    def row(path: str, line: int, message: str) -> dict[str, object]:
        return {"check": "eslint", "path": path, "line": line, "message": message}

    found = [row("a.js", line, "No magic number: -1.") for line in (30, 35, 35, 44)]
    found += [row("a.js", line, f"Name {line} is taken.") for line in range(12)] + [
        row("b.js", 1, "No magic number: -1.")
    ]
    told = none_of([*found, "lint crashed"], what="new findings", fix="correct the code")
    assert not told.passed and told.measured == 18
    assert "a.js:30, 35, 44 No magic number: -1." in told.message and "b.js:1 No magic number: -1." in told.message
    assert all(f"a.js:{line} Name {line} is taken." in told.message for line in range(12))
    assert "lint crashed" in told.message and " more" not in told.message


def test_a_pattern_that_only_python_understands_is_refused_with_its_file() -> None:
    mine = parse_contract(
        "contract: n\nschema: {a: {type: string, pattern: '(?P<x>a)(?P=x)(?a:b)'}}\n", source="n.yaml"
    )
    with pytest.raises(ContractInvalid, match=r"n\.yaml: the schema cannot be used"):
        check(mine, {"a": "b"}, facts={}, inputs={})


def test_results_are_recorded_as_plain_values(contracts: ContractSet, artifacts: Any, facts: Any) -> None:
    values = [item.value() for item in judge(contracts, "specification", artifacts, facts).results]
    assert values[0] == {"rule": "schema", "passed": True, "message": "", "path": "", "measured": None, "sort": "fact"}
    judged = {"rule": "acceptance-criteria", "passed": True, "message": "", "path": "", "measured": 3}
    assert values[1] == {**judged, "sort": "repair"}


def test_what_a_repair_rule_asks_for_refuses_only_when_nobody_measured_it(
    contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    artifacts["specification"]["symbols"][0]["file"] = "other.py"
    result = judge(contracts, "specification", artifacts, facts)
    assert "symbols-in-scope" in [item.rule for item in result.notes]
    del facts["specification"]["symbols"]
    assert "symbols-in-scope" in [item.rule for item in judge(contracts, "specification", artifacts, facts).failures]


def test_a_contract_of_a_project_may_make_a_note_of_any_rule_and_of_its_own() -> None:
    text = (
        "contract: n\nschema: {branch: {type: string}}\nvalidation:\n- {rule: requirement ids are unique, sort: SORT}\n"
    )
    asked, artifact = parse_contract(text.replace("SORT", "fact"), source="n.yaml"), {"requirements": [{"id": ""}]}
    assert [item.rule for item in check(asked, artifact, facts={}, inputs={}).failures] == ["unique-ids"]
    told = check(parse_contract(text.replace("SORT", "note"), source="n.yaml"), artifact, facts={}, inputs={})
    assert told.passed
    assert [item.rule for item in told.notes] == ["unique-ids"]
    with pytest.raises(ContractInvalid, match=r"validation\[0\]\.sort is 'repair' - one of fact, note"):
        parse_contract(text.replace("SORT", "repair"), source="n.yaml")


def test_a_requirement_that_is_verified_by_inspection_needs_no_test(
    contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    told = artifacts["specification"]["requirements"][1]
    tests = artifacts["test_suite"]["test_files"][0]["tests"]
    tests[:] = [one for one in tests if one["requirement_ref"] != told["id"]]
    artifacts["test_suite"]["coverage_mapping"].pop(told["id"])
    assert "requirements-tested" in [item.rule for item in judge(contracts, "test_suite", artifacts, facts).failures]
    told["verification_method"] = "inspection"
    assert judge(contracts, "test_suite", artifacts, facts).failures == ()


def test_inspection_alone_needs_a_measured_inertness_and_one_tested_requirement_needs_a_target(
    contracts: ContractSet, artifacts: Any, facts: Any
) -> None:
    for requirement in artifacts["specification"]["requirements"]:
        requirement["verification_method"] = "inspection"
    artifacts["test_suite"] |= {"test_files": [], "coverage_mapping": {}}
    facts["test_suite"] |= {"tests": [], "frozen": {}, "frozen_files": {}, "examples": [], "stubs_run": 0}

    def broken(name: str) -> set[str]:
        return {item.rule for item in judge(contracts, name, artifacts, facts).results if not item.passed}

    assert not broken("test_suite") & {"has-target", "requirements-tested", "criteria-mapped", "all-tests-fail"}
    assert "inspection-inert" in broken("implementation"), "what was not measured is not believed"
    facts["implementation"] |= {"inert": {"passed": True, "words": "documentation only", "changes": []}, "tests_run": 0}
    assert not broken("implementation") & {"inspection-inert", "suite-passes"}
    artifacts["specification"]["requirements"][0]["verification_method"] = "test"
    assert broken("test_suite") >= {"has-target", "requirements-tested"}
