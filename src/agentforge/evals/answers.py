"""What the scripted model answers in a case: drafts and files of several trees laid over each other.

A tree of answers holds, for each stage that it has something to say about:

    STAGE.yaml          the draft that is submitted, or the parts of it that differ from the layer below
    STAGE/...           files that are written, at their repository paths
    STAGE.calls.yaml    `calls: [{name: shell, args: {command: ...}}]`, tool calls made before anything is written

`red.yaml` need not list the tests: without `test_files` every test function of the written files is declared a target
for all criteria, or a guard when `guards` names it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from agentforge.config.sources import merged_tables
from agentforge.evals.case import Case, FileTree, Side
from agentforge.languages.catalogue import named_tests

STAGES = ("intake", "clarify", "analyze", "spec", "red", "green", "refactor")


def script_of(case: Case, side: Side) -> dict[str, list[dict[str, Any]]]:
    """Make the script for `scripted/FILE`: the replies of each stage that some layer answers."""
    layers = case.answers(side)
    drafts = {stage: _draft(layers, stage) for stage in STAGES}
    files = {stage: _files(layers, stage) for stage in STAGES}
    drafts["red"] = _suite(drafts["red"], files["red"], drafts["spec"])
    return {
        stage: _replies(_calls(layers, stage), files[stage], drafts[stage])
        for stage in STAGES
        if drafts[stage] or files[stage]
    }


def _replies(
    calls: Sequence[Mapping[str, Any]], files: Mapping[str, str], draft: Mapping[str, object]
) -> list[dict[str, Any]]:
    """Everything in one reply; where a call is refused, what is left is tried call by call."""
    written = [{"name": "write_file", "args": {"path": path, "content": text}} for path, text in files.items()]
    submitted = {"name": "submit_artifact", "args": {"artifact": dict(draft)}}
    first = [[call] for call in calls]
    return [
        {"text": "", "tool_calls": one}
        for one in (*first, [*written, submitted], *([call] for call in written), [submitted])
    ]


def _draft(layers: Sequence[FileTree], stage: str) -> dict[str, object]:
    merged: dict[str, object] = {}
    for layer in layers:
        merged = merged_tables(merged, layer.mapping(f"{stage}.yaml"))
    return merged


def _calls(layers: Sequence[FileTree], stage: str) -> list[Mapping[str, Any]]:
    """The calls of the topmost layer that has some."""
    for layer in reversed(layers):
        calls = layer.mapping(f"{stage}.calls.yaml").get("calls")
        if isinstance(calls, list):
            return calls
    return []


def _files(layers: Sequence[FileTree], stage: str) -> dict[str, str]:
    return {path: text for layer in layers for path, text in sorted(layer.below(stage).texts.items())}


def _suite(draft: Mapping[str, object], files: Mapping[str, str], spec: Mapping[str, object]) -> dict[str, object]:
    """RED's draft; the tests come from the files where the draft does not list them."""
    guards = draft.get("guards")
    named = guards if isinstance(guards, list) else []
    rest = {key: value for key, value in draft.items() if key != "guards"}
    if "test_files" in rest:
        return rest
    criteria = _criteria(spec)
    listed = [
        {
            "path": path,
            "tests": [
                {
                    "name": name,
                    "requirement_ref": criteria[0].partition(".")[0] if criteria else "REQ-001",
                    "acceptance_criterion": ", ".join(criteria),
                    "kind": "guard" if name in named else "target",
                }
                for name in dict.fromkeys(_declared(path, text))
            ],
        }
        for path, text in files.items()
        if _holds_tests(path, text)
    ]
    return {**rest, "test_files": listed}


def _holds_tests(path: str, text: str) -> bool:
    if path.endswith(".py"):
        return PurePosixPath(path).name.startswith("test_")
    return any(True for _ in _declared(path, text))


def _declared(path: str, text: str) -> Iterator[str]:
    """The tests of a file in any language that the runners know by its grammar."""
    if path.endswith(".py"):
        yield from declared_tests(text)
        return
    for name, _ in named_tests(path, text.encode()):
        yield name


def declared_tests(text: str) -> Iterator[str]:
    """Test functions of a file by the names that a suite declares them under: `test_a`, `TestB::test_c`."""
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield node.name
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner.name.startswith("test"):
                    yield f"{node.name}::{inner.name}"


def _criteria(spec: Mapping[str, object]) -> list[str]:
    """The numbers of all acceptance criteria: REQ-001.1, REQ-001.2."""
    requirements = spec.get("requirements")
    return [
        f"{one.get('id')}.{number}"
        for one in (requirements if isinstance(requirements, list) else [])
        for number in range(1, len(one.get("acceptance_criteria") or ()) + 1)
    ]
