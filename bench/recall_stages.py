"""The first context of each stage of a run, made without a model: artifacts by machine, contexts by the pipeline itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentforge.config.contract_files import contract_set
from agentforge.context.minimal import StepContext
from agentforge.events.state.attempt import StageState, Turn
from agentforge.events.state.run_state import Brief, Progress, RunIdentity, RunState, Work
from agentforge.messages import Text
from agentforge.models.stand_ins.scripted import ScriptedModel
from agentforge.pipeline.context.material import gather
from agentforge.pipeline.engine.stage_agent import agent_spec
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.stages import ORDER, load_stages
from agentforge.store.blobs import Blobs
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of
from agentforge.workspace.files import search
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import choose
from bench.recall_corpus import Truth

STAGES = ("intake", "analyze", "spec", "red", "green")


def make_runtime(checkout: Path, scratch: Path) -> Runtime:
    """Wire a pipeline over a checkout; nothing is executed and no model is asked."""
    scratch.mkdir(parents=True, exist_ok=True)
    script = scratch / "script.yaml"
    script.write_text("[]\n", "utf-8")
    model, git = ScriptedModel(script), Git.open(checkout)
    return Runtime(
        repo=checkout, worktree=checkout, scratch=scratch, git=git, ready=lambda: None,
        guard=Guard(git, checkout, index=scratch / "index"), sandbox=choose("off"), stages=load_stages(),
        contracts=contract_set(None), blobs=Blobs(scratch / "blobs"), rig=_no_rig, models=lambda _stage: model,
        price=lambda _reply: None, secrets=(), checks={}, trail=lambda: ("0" * 64, 0), diff=git.diff, nonce="recall",
        supplied={}, max_output_tokens=4000, temperature=None,
    )  # fmt: skip


def first_context(stage: str, truth: Truth, parent: str, runtime: Runtime, *, budget: int, **turn: Any) -> StepContext:
    """The context of the first request of a stage.

    Args:
        budget: tokens of one request.
        turn: fields of the state's turn: `views`, the parts of files that the model asked for.
    """
    runtime = replace(runtime, step_tokens=budget)
    if stage == "green":
        _write_suite(truth, runtime.worktree)
    state = state_before(stage, truth, parent, runtime)
    state = replace(state, progress=replace(state.progress, turn=Turn(**turn)))
    return agent_spec(state, runtime, gather(stage, state, runtime)).context(state)


def _write_suite(truth: Truth, root: Path) -> None:
    """The tests as RED would leave them: those of the commit."""
    for path, text, _ in truth.suite:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def text_of(context: StepContext) -> str:
    """All that a model is shown, without the schemas of the tools."""
    parts = [part for message in context.messages[1:] for part in message.parts]
    return "".join(part.text for part in parts if isinstance(part, Text))


def state_before(stage: str, truth: Truth, parent: str, runtime: Runtime) -> RunState:
    """A run in which all stages before this one passed with the artifacts that the true change would have."""
    done = ORDER[: ORDER.index(stage)]
    made = {
        "intake": _intake(truth),
        "clarify": {"questions": []},
        "analyze": _analysis(truth),
        "spec": _specification(truth),
    }
    made["red"] = _suite(truth)
    tests = [path for path in search.files(runtime.worktree) if is_test_path(path) and language_of(path)]
    base = {
        "measured": True, "runner": "the project's own", "command": "the project's own", "tests": len(tests),
        "passed": len(tests), "attempt": 1, "test_files": tests,
    }  # fmt: skip
    stages = {name: StageState(status="verified", attempt=1) for name in done}
    return RunState(
        identity=RunIdentity(run_id="task-recall", base_commit=parent, branch="agentforge/task-recall"),
        brief=Brief(request=truth.request),
        progress=Progress(stage=stage, stages=stages | {stage: StageState(status="running", attempt=1)}),
        work=Work(artifacts={name: made[name] for name in done if name in made}, facts={"baseline": base}),
    )


def _intake(truth: Truth) -> dict[str, Any]:
    subject = truth.request.partition("\n")[0]
    return {
        "request_id": "task-recall",
        "original_request": truth.request,
        "goal": subject[:300],
        "extracted_intent": {"action": "modify"},
        "examples": [],
        "identified_ambiguities": [],
    }


def _analysis(truth: Truth) -> dict[str, Any]:
    symbols = [
        {"name": place.symbol.qualified, "file": place.path, "line": line, "role": "changes"}
        for place in truth.places
        for line in _edited_lines_in(place, truth)
    ]
    symbols += [
        {"name": word, "file": path, "line": line, "role": "changes"} for path, line, word in _loose_lines(truth)
    ]
    symbols += [
        {"name": Path(path).stem, "file": path, "line": line, "role": "its tests"} for path, line in truth.tests
    ]
    return {
        "summary": truth.request.partition("\n")[0],
        "impacted_files": list(truth.files),
        "modules": [{"path": path} for path in truth.files],
        "symbols": symbols,
        "conventions": [],
        "risks": [],
    }


def _edited_lines_in(place: Any, truth: Truth) -> Iterator[int]:
    """One line for every place inside a definition that changes, as the prompt of ANALYZE asks for it."""
    first, last = place.symbol.line, place.symbol.end_line
    starts = [
        line
        for start, end in truth.edited.get(place.path, ())
        for line in range(start, end + 1)
        if first <= line <= last
    ]
    starts += [line for line in truth.inserted.get(place.path, ()) if first <= line <= last]
    kept: list[int] = []
    for line in sorted(max(line, first) for line in starts) or [first]:
        if not kept or line > kept[-1] + 10:
            kept.append(line)
    yield from kept


def _loose_lines(truth: Truth) -> Iterator[tuple[str, int, str]]:
    """A word of every edited line that stands in no definition: imports, documentation, what a module does when it is loaded."""
    for path in truth.files:
        spans = [(place.symbol.line, place.symbol.end_line) for place in truth.places if place.path == path]
        lines = [first for first, _ in truth.edited.get(path, ())] + [
            line for line in truth.inserted.get(path, ()) if line
        ]
        last = -20
        for line in sorted(lines):
            if line > last + 10 and not any(first <= line <= end for first, end in spans):
                last = line
                yield path, line, "line"


def _specification(truth: Truth) -> dict[str, Any]:
    """Requirements from the sentences of the message, symbols and files from the change."""
    sentences = [one.strip(" -*\n") for one in re.split(r"\n\n+|\n\s*[-*] |(?<=[.!?])\s+(?=[A-Z`])", truth.request)]
    requirements = [
        {
            "id": f"REQ-{number:03}",
            "description": " ".join(sentence.split()),
            "priority": "must",
            "acceptance_criteria": [f"as the request says: {' '.join(sentence.split())[:200]}"],
        }
        for number, sentence in enumerate((one for one in sentences if one), start=1)
    ]
    symbols = [
        {"name": place.symbol.qualified, "file": place.path, "kind": _kind(place.symbol.kind), "change": "changed"}
        for place in truth.places
    ]
    return {
        "spec_id": "spec-recall",
        "title": truth.request.partition("\n")[0][:100],
        "description": truth.request.partition("\n")[0],
        "requirements": requirements[:20],
        "symbols": symbols,
        "files_to_modify": list(truth.files),
        "files_to_create": list(truth.created),
    }


def _kind(kind: str) -> str:
    return {"variable": "constant", "type": "class"}.get(kind, kind)


def _suite(truth: Truth) -> Mapping[str, Any]:
    files = [
        {"path": path, "tests": [{"name": name, "requirement_ref": "REQ-001"} for name in names]}
        for path, _, names in truth.suite
    ]
    return {"suite_id": "suite-recall", "test_files": files, "coverage_mapping": {}}


def _no_rig() -> Any:
    raise AssertionError("no tests are run here")
