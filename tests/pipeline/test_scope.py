"""What a stage may write: test files, or the files of the specification sign for sign."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.pipeline.engine.stage_agent import refusal_of
from agentforge.pipeline.model.scope import named_files, product_scope, suite_files
from agentforge.pipeline.stages import load_stages
from tests.support.stage_states import SPEC, inside

STAGES = load_stages()


def refuses(stage: str, path: str, **changes: Any) -> bool:
    return refusal_of(inside(stage, **changes), STAGES[stage])(path) is not None


def test_product_files_are_those_of_the_specification_and_their_packages() -> None:
    assert product_scope(SPEC) == ("kit/text.py", "kit/slug.py", "kit/__init__.py")
    assert product_scope({"files_to_create": ["./a.py", "b/c.js"], "symbols": [{"file": ""}, 3]}) == ("a.py", "b/c.js")
    assert product_scope({}) == ()


def test_suite_files_are_the_supplied_and_the_written_ones_once() -> None:
    assert suite_files(inside("green")) == ("tests/test_slug.py",)
    assert suite_files(inside("green", tests=("tests/test_slug.py", "tests/own.py"))) == (
        "tests/test_slug.py",
        "tests/own.py",
    )
    assert suite_files(inside("green", artifacts={"red": {"test_files": [{"tests": []}]}})) == ()


@pytest.mark.parametrize("stage", ["intake", "clarify", "analyze", "spec", "deliver"])
def test_a_stage_that_looks_writes_nothing(stage: str) -> None:
    assert refuses(stage, "kit/text.py") and refuses(stage, "tests/test_slug.py")


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("tests/test_slug.py", False),
        ("tests/data/x.txt", False),
        ("test_slug.py", False),
        ("kit/tests/test_slug.py", False),
        ("src/a.test.ts", False),
        ("pkg/a_test.go", False),
        ("checks/deep/slug.py", False),
        ("kit/slug.py", True),
        ("kit/__init__.py", True),
        ("pyproject.toml", True),
        ("tests/own.py", True),
        ("tests/.git/hooks/x", True),
        ("tests/.agentforge/x", True),
        ("tests/../kit/slug.py", True),
    ],
)
def test_red_writes_tests_but_not_the_supplied_ones(path: str, refused: bool) -> None:
    facts = {"baseline": {"test_globs": ["checks/**"]}}
    assert refuses("red", path, tests=("tests/own.py",), facts=facts) is refused


@pytest.mark.parametrize("stage", ["green", "refactor"])
@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("kit/text.py", False),
        ("kit/slug.py", False),
        ("kit/__init__.py", False),
        ("kit/other.py", True),
        ("tests/test_slug.py", True),
        ("conftest.py", True),
        ("sub/kit/slug.py", True),
    ],
)
def test_green_and_refactor_write_the_files_of_the_specification(stage: str, path: str, refused: bool) -> None:
    assert refuses(stage, path) is refused


@pytest.mark.parametrize(
    ("named", "path", "refused"),
    [
        ("**", "kit/text.py", True),
        ("kit/*", "kit/text.py", True),
        ("kit", "kit/text.py", True),
        ("slug.py", "deep/slug.py", True),
        ("app/[id].tsx", "app/i.tsx", True),
        ("app/[id].tsx", "app/[id].tsx", False),
        ("slug.py", "slug.py", False),
        ("tests/test_slug.py", "tests/test_slug.py", True),
        (".git/hooks/x", ".git/hooks/x", True),
    ],
)
def test_a_name_that_reads_as_a_pattern_or_a_folder_opens_nothing_else(named: str, path: str, refused: bool) -> None:
    artifacts = {**inside("green").work.artifacts, "spec": {"files_to_create": [named]}}
    assert refuses("green", path, artifacts=artifacts) is refused


def test_only_files_that_the_specification_names_are_offered() -> None:
    assert named_files(SPEC) == ("kit/text.py", "kit/slug.py")
