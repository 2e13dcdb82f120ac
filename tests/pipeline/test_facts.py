"""Facts of the early stages, on a real commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.pipeline.facts.early_facts import analyze_facts, clarify_facts, intake_facts, spec_facts
from agentforge.pipeline.model.runtime import Runtime
from tests.support.run_states import with_fields
from tests.support.stage_states import before, inside

Make = Callable[..., Runtime]


def state_of(runtime: Runtime, stage: str = "spec") -> Any:
    return before(stage, base_commit=runtime.git.head())


def test_an_example_is_found_in_the_request_or_not() -> None:
    state = with_fields(inside("intake"), request="say f('a') -> 'b'")
    facts = intake_facts(state, {"examples": ["f('a') -> 'b'", "f('c')", 7]})
    assert facts["examples"] == [{"text": "f('a') -> 'b'", "found": True}, {"text": "f('c')", "found": False}]


@pytest.mark.parametrize(
    ("piece", "reason"),
    [
        ({"file": "kit/text.py", "snippet": "def shout(text: str) -> str:\n        return text.upper()"}, ""),
        ({"file": "kit/text.py", "snippet": "return   text.upper()"}, ""),
        ({"file": "ünder/ä.txt", "snippet": "one"}, ""),
        ({"file": "kit/text.py", "snippet": "return text.lower()"}, "the file does not hold this snippet"),
        ({"file": "kit/text.py", "snippet": " "}, "no snippet was given"),
        ({"file": "kit/none.py", "snippet": "x"}, "no such file at the base commit"),
        ({"file": "kit", "snippet": "text.py"}, "no such file at the base commit"),
        ({"file": "../kit/text.py", "snippet": "LIMIT"}, "no such file at the base commit"),
        ({"file": "/etc/passwd", "snippet": "root"}, "no such file at the base commit"),
        ({}, "no such file at the base commit"),
    ],
)
def test_evidence_must_stand_in_its_file(runtime: Make, piece: dict[str, str], reason: str) -> None:
    made = runtime()
    draft = {"questions": [{"question": "Q", "source": "agent_inference", "evidence": [piece]}]}
    (row,) = clarify_facts(state_of(made), draft, made)["evidence"]  # type: ignore[misc]
    assert (row["ok"], row["reason"], row["question"]) == (not reason, reason, "Q")


def test_an_inference_without_evidence_is_told_and_other_answers_need_none(runtime: Make) -> None:
    made = runtime()
    draft = {"questions": [{"question": "A", "source": "agent_inference"}, {"question": "B", "source": "assumption"}]}
    rows: Any = clarify_facts(state_of(made), draft, made)["evidence"]
    assert [(row["question"], row["reason"]) for row in rows] == [("A", "no evidence was given")]


def test_named_places_exist_or_not(runtime: Make) -> None:
    made = runtime()
    symbols = [
        ("kit/text.py", "shout"),
        ("kit/text.py", "Shout.loud"),
        ("kit/text.py", "loud(self)"),
        ("kit/text.py", "LIMIT"),
    ]
    symbols += [
        ("kit/text.py", "upper"),
        ("kit/none.py", "shout"),
        ("kit/macro.xyz", "slugify"),
        ("kit/macro.xyz", "slug"),
    ]
    draft = {
        "impacted_files": ["kit/text.py", "kit", "kit/none.py"],
        "modules": [{"path": "kit/text.py"}, {"path": "tests/"}],
        "symbols": [{"name": name, "file": file, "line": 1} for file, name in symbols],
    }
    facts: Any = analyze_facts(state_of(made), draft, made)
    assert [(row["path"], row["exists"]) for row in facts["paths"]] == [
        ("kit/text.py", True), ("kit", True), ("kit/none.py", False), ("tests/", True),
    ]  # fmt: skip
    assert [row["found"] for row in facts["symbols"]] == [True, True, True, True, True, False, True, False]
    assert facts["baseline"]["runner"] == "pytest"


def test_a_specification_is_held_against_the_base_and_the_examples(runtime: Make) -> None:
    made = runtime()
    draft = {
        "files_to_modify": ["kit/text.py", "kit/none.py"],
        "files_to_create": ["kit/slug.py"],
        "symbols": [
            {"name": "shout", "file": "kit/text.py", "change": "changed"},
            {"name": "slugify", "file": "kit/slug.py", "change": "new"},
        ],
        "requirements": [{"acceptance_criteria": ["slugify('A b') -> 'a-b'"]}],
    }
    facts: Any = spec_facts(state_of(made), draft, made)
    assert (facts["existing"], facts["missing"]) == (["kit/text.py"], ["kit/none.py", "kit/slug.py"])
    assert [row["exists"] for row in facts["symbols"]] == [True, False]
    assert facts["examples"] == [{"text": "slugify('A b') -> 'a-b'", "found": True}]


@pytest.mark.parametrize(
    "draft", [{}, {"examples": 3, "questions": "x", "symbols": [1, None], "modules": {}, "impacted_files": [None]}]
)
def test_a_draft_may_hold_anything(runtime: Make, draft: dict[str, Any]) -> None:
    made = runtime()
    state = state_of(made)
    assert intake_facts(state, draft)["examples"] == []
    assert clarify_facts(state, draft, made)["evidence"] == []
    assert analyze_facts(state, draft, made)["symbols"] == []
    assert spec_facts(state, draft, made)["symbols"] == []
