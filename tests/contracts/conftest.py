"""The builtin contracts and one good artifact of each, with the facts and inputs under which every rule holds."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from agentforge.contracts.catalogue import ContractSet, build

BUILTIN = Path(__file__).parents[2] / "src/agentforge/contracts/builtin"

INTAKE = {
    "request_id": "task-20251231-slugify",
    "original_request": "Add slugify. slugify('Hello World') -> 'hello-world'",
    "extracted_intent": {"action": "create", "target": "slugify", "scope": "module"},
    "goal": "Text can be turned into a slug.",
    "examples": ["slugify('Hello World') -> 'hello-world'"],
    "asks": [
        {"number": 1, "start": 0, "end": 12, "kind": "sentence", "text": "Add slugify."},
        {
            "number": 2,
            "start": 13,
            "end": 52,
            "kind": "sentence",
            "text": "slugify('Hello World') -> 'hello-world'",
            "exact": True,
        },
    ],
    "initial_complexity": "simple",
    "identified_ambiguities": [
        {"area": "input", "question": "Which scripts?", "impact": "minor", "default": "ASCII only"},
        {"area": "length", "question": "Is there a limit?", "impact": "blocking"},
    ],
    "metadata": {"intake_timestamp": "2025-12-31T10:00:00Z", "tokens_used": 1200},
}
CLARIFICATION = {
    "questions": [
        {"question": "Which scripts?", "source": "assumption", "answer": "ASCII only"},
        {
            "question": "Is there a limit?",
            "impact": "blocking",
            "source": "agent_inference",
            "answer": "40, like task names",
            "confidence": 0.92,
            "evidence": [{"file": "names.py", "line": 3, "snippet": "LIMIT = 40"}],
        },
        {
            "question": "Should PKCE flow be required?",
            "source": "human_escalation",
            "answer": "Yes",
            "confidence": 1.0,
            "resolved_by": "user",
            "resolved_at": "2025-12-31T10:15:00Z",
        },
    ]
}
ANALYSIS = {
    "summary": "names.py makes names.",
    "modules": [{"path": "names.py", "purpose": "names"}],
    "symbols": [{"name": "make_name", "file": "names.py", "line": 5, "role": "caller"}],
    "conventions": ["pure functions"],
    "impacted_files": ["names.py"],
    "tests": {"runner": "pytest", "command": "pytest -q", "paths": ["tests"]},
    "risks": [{"description": "callers with non-ASCII text"}],
}
SPECIFICATION = {
    "spec_id": "spec-1",
    "asks": {"1": ["REQ-001"], "2": ["REQ-001"]},
    "title": "Slugify",
    "description": "Add slugify.",
    "requirements": [
        {
            "id": "REQ-001",
            "description": "Words joined by hyphens",
            "priority": "must",
            "acceptance_criteria": ["slugify('Hello World') -> 'hello-world'", "No hyphen at either end"],
            "verification_method": "test",
        },
        {"id": "REQ-002", "description": "Cut at 40", "priority": "should", "acceptance_criteria": ["At most 40"]},
        {"id": "REQ-003", "description": "Later", "priority": "wont", "acceptance_criteria": ["Never now"]},
    ],
    "constraints": [{"id": "C1", "description": "stdlib only", "rationale": "size"}],
    "interfaces": [{"name": "slugify", "type": "api", "direction": "output"}],
    "files_to_modify": ["names.py"],
    "files_to_create": ["slugs.py"],
    "symbols": [
        {"name": "slugify", "file": "slugs.py", "kind": "function", "signature": "(text) -> str", "change": "new"},
        {"name": "make_name", "file": "names.py", "kind": "function", "signature": "(text)", "change": "changed"},
    ],
    "examples": [{"requirement": "REQ-001", "call": "slugify('A  b')", "returns": "'a-b'"}],
    "dependencies": ["stdlib re"],
    "estimated_complexity": "simple",
    "trace_to_request": "adds slugify",
}
TEST_SUITE = {
    "suite_id": "suite-1",
    "spec_ref": "spec-1",
    "test_files": [
        {
            "path": "tests/test_slugs.py",
            "tests": [
                {"name": "test_words", "requirement_ref": "REQ-001", "acceptance_criterion": "REQ-001.1"},
                {"name": "test_ends", "requirement_ref": "REQ-001", "acceptance_criterion": "no hyphen at  either end"},
                {"name": "test_limit", "requirement_ref": "REQ-002", "acceptance_criterion": "1", "kind": "target"},
                {"name": "test_names_stay", "requirement_ref": "REQ-001", "kind": "guard"},
            ],
        }
    ],
    "coverage_mapping": {"REQ-001": ["tests/test_slugs.py::test_words", "test_ends"], "REQ-002": ["test_limit"]},
    "verification": {"all_tests_fail": True, "no_implementation_exists": True},
}
VERIFIED = {"all_tests_pass": True, "conformance_passing": True, "no_regressions": True}
IMPLEMENTATION = {
    "implementation_id": "impl-1",
    "spec_ref": "spec-1",
    "test_suite_ref": "suite-1",
    "files_created": [{"path": "slugs.py", "purpose": "slugs", "lines": 12}],
    "files_modified": [{"path": "names.py", "changes_summary": "uses it", "lines_added": 2, "lines_removed": 1}],
    "verification": VERIFIED,
}
DELIVERABLE = {
    "deliverable_id": "d-1",
    "spec_ref": "spec-1",
    "implementation_ref": "impl-1",
    "changes": [{"path": "slugs.py", "summary": "shorter", "lines_added": 1, "lines_removed": 3}],
    "conformance": {"before": 1, "after": 0, "checks": ["ruff"]},
    "tree": "a" * 40,
    "verification": VERIFIED,
}
DELIVERY_REPORT = {
    "task_id": "task-20251231-slugify",
    "request": "Add slugify.",
    "title": "Slugify",
    "assumptions": [{"question": "Which scripts?", "assumption": "ASCII only"}],
    "branch": "agentforge/task-20251231-slugify",
    "base_commit": "b" * 40,
    "commits": [{"id": "c" * 40, "subject": "feat: slugify"}],
    "requirements": [
        {"id": "REQ-001", "tests": ["test_words"], "changes": [{"path": "slugs.py", "lines": "1-12"}]},
        {"id": "REQ-002", "tests": ["test_limit"]},
    ],
    "verification": {"passed": True},
    "cost": {"llm_calls": 9, "prompt_tokens": 30_000, "completion_tokens": 900, "cost_usd": None, "duration_s": 60.5},
}

ARTIFACTS: dict[str, dict[str, Any]] = {
    "intake_record": INTAKE,
    "clarification": CLARIFICATION,
    "analysis": ANALYSIS,
    "specification": SPECIFICATION,
    "test_suite": TEST_SUITE,
    "implementation": IMPLEMENTATION,
    "deliverable": DELIVERABLE,
    "delivery_report": DELIVERY_REPORT,
}

CONTROLS = {"canary": "held", "complete": True, "agree": True}
GREEN_FACTS = {
    "all_tests_pass": True,
    "suite": {"passed": 4, "failing": []},
    "tests_run": 4,
    "regressions": [],
    "missing": [],
    "no_regressions": True,
    "frozen_changed": [],
    "config_changed": [],
    "out_of_scope": [],
    "new_suppressions": [],
    "checks_changed": [],
    "flaky": [],
    "deceptions": [],
    "held_out": {"checked": 2, "failed": [], "unchecked": []},
    "tests_too_weak": [],
    "changes": [{"path": "slugs.py", "status": "added", "added": 12, "removed": 0}],
    "symbols_unmet": [],
    "test_files": ["tests/test_slugs.py"],
    "controls": CONTROLS,
    "conformance": {"passed": True, "new": [], "crashed": []},
    "coverage": {
        "measured": True,
        "lost": "",
        "blind": False,
        "requirements": [{"id": "REQ-001", "tests": [], "touches": True, "note": ""}],
        "untested": [{"path": "slugs.py", "lines": "9", "function": "slugify", "inert": True, "statements": 1}],
        "untested_allowed": 0,
        "returns_left": False,
    },
}
_RED_IDS = [f"tests/test_slugs.py::test_{name}" for name in ("words", "ends", "limit")]
FACTS: dict[str, dict[str, Any]] = {
    "intake_record": {"examples": [{"text": INTAKE["examples"][0], "found": True}]},
    "clarification": {"evidence": [{"question": "Is there a limit?", "file": "names.py", "ok": True, "reason": ""}]},
    "analysis": {
        "paths": [{"path": "names.py", "exists": True}],
        "symbols": [{"name": "make_name", "file": "names.py", "line": 5, "found": True}],
        "baseline": {"runner": "pytest", "tests": 12, "passed": 12, "canary": "held"},
    },
    "specification": {
        "existing": ["names.py"],
        "missing": ["slugs.py"],
        "symbols": [
            {"name": "slugify", "file": "slugs.py", "exists": False},
            {"name": "make_name", "file": "names.py", "exists": True},
        ],
        "dependency_cycle": [],
        "claims": {
            "seed": 1,
            "rows": [{"number": 0, "call": "slugify('A  b')", "ok": True, "reason": "", "hidden": True}],
        },
    },
    "test_suite": {
        "examples": [{"text": INTAKE["examples"][0], "found": True}],
        "tests": [
            *(
                {"id": name, "kind": "target", "outcome": "failed", "right_reason": True, "reason": "assert"}
                for name in _RED_IDS
            ),
            {"id": "tests/test_slugs.py::test_names_stay", "kind": "guard", "outcome": "passed", "right_reason": True},
        ],
        "all_tests_fail": True,
        "guards_pass": True,
        "no_implementation_exists": True,
        "declared_missing": [],
        "stub_survivors": [],
        "turned_guard": [],
        "stubs_run": 5,
        "collection_errors": [],
        "duplicates": [],
        "existing_changed": [],
        "product_changed": [],
        "frozen": dict.fromkeys([*_RED_IDS, "tests/test_slugs.py::test_names_stay"], "0" * 64),
        "frozen_files": {"tests/test_slugs.py": "0" * 64},
        "controls": CONTROLS,
        "problems": [],
    },
    "implementation": GREEN_FACTS,
    "deliverable": GREEN_FACTS,
    "delivery_report": {
        "branch": "agentforge/task-20251231-slugify",
        "commit": "c" * 40,
        "tree": "a" * 40,
        "verified_tree": "a" * 40,
        "tree_matches": True,
    },
}


@pytest.fixture(scope="session")
def builtin_texts() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in BUILTIN.glob("*.yaml")}


@pytest.fixture(scope="session")
def contracts(builtin_texts: dict[str, str]) -> ContractSet:
    return build(builtin_texts, {})


@pytest.fixture
def artifacts() -> dict[str, Any]:
    """Good artifacts by contract name; a test may spoil them."""
    return copy.deepcopy(ARTIFACTS)


@pytest.fixture
def facts() -> dict[str, Any]:
    """Facts by contract name under which every rule holds; a test may spoil them."""
    return copy.deepcopy(FACTS)
