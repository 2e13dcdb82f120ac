"""Answers of the scripted model, written short, as the replies of every stage.

    action, goal, target      what INTAKE says; by default those of the task
    ambiguities               what INTAKE finds unclear: {question, impact, area, default}
    summary, findings, files  ANALYZE: its text, what it found, the files it names
    title, criteria           SPEC: its one requirement and the criteria of it
    symbols                   what is declared: {name, file, kind, signature, change}
    examples                  held-out examples: {call, returns}
    tests                     path -> text of RED's files; `guards` names the tests that pass before, too
    changes                   path -> text of the files that GREEN writes

What is not said is not answered; `stages` holds replies of a stage word for word, for answers of another shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.evals.answers import declared_tests
from agentforge.evals.trials.task import EvalTask
from agentforge.verification.examples.claims import Claim
from agentforge.workspace.git.repository import Git

_GOAL = 200  # characters
Reply = dict[str, Any]
Answers = Mapping[str, Any]
_MOST = 6


def script_of(task: EvalTask, answers: Answers) -> dict[str, list[Reply]]:
    """Make the script for `scripted/FILE` from answers."""
    script = {"intake": [_submitted(_intake(task, answers))], "analyze": [_submitted(_analysis(task, answers))]}
    if answers.get("ambiguities"):
        script["clarify"] = [_submitted(_clarification(answers))]
    if answers.get("criteria"):
        script["spec"] = [_submitted(_specification(task, answers))]
    if answers.get("tests"):
        script["red"] = [_submitted(_suite(answers), answers["tests"])]
    if answers.get("changes"):
        script["green"] = [_submitted(_implementation(answers), answers["changes"])]
    return {**script, **answers.get("stages", {})}


def _submitted(draft: Mapping[str, object], files: Mapping[str, str] | None = None) -> Reply:
    """One reply that writes files and hands the draft in."""
    written = [{"name": "write_file", "args": {"path": path, "content": text}} for path, text in (files or {}).items()]
    return {"text": "", "tool_calls": [*written, {"name": "submit_artifact", "args": {"artifact": dict(draft)}}]}


def _intake(task: EvalTask, answers: Answers) -> dict[str, object]:
    return {
        "goal": answers.get("goal", _first_line(task.request)[:_GOAL]),
        "extracted_intent": {
            "action": answers.get("action", task.action),
            "target": answers.get("target", next(iter(_named_files(task, answers)), "the repository")),
            "scope": "module",
        },
        "examples": list(answers.get("request_examples", ())),
        "initial_complexity": "trivial",
        "identified_ambiguities": [
            {"area": "behaviour", "impact": "blocking", "default": "", **one} for one in answers.get("ambiguities", ())
        ],
    }


def _clarification(answers: Answers) -> dict[str, object]:
    """What INTAKE found unclear is for a human to settle."""
    return {
        "questions": [
            {"question": one["question"], "source": "human_escalation", "answer": "", "confidence": 0.2}
            for one in answers["ambiguities"]
        ]
    }


def _analysis(task: EvalTask, answers: Answers) -> dict[str, object]:
    files = list(_named_files(task, answers))
    draft: dict[str, object] = {
        "summary": answers.get("summary", f"{', '.join(files)} is concerned"),
        "impacted_files": files,
        "modules": [{"path": path, "purpose": "concerned"} for path in files],
        "symbols": [],
        "conventions": [],
        "risks": [],
        "constraints": [],
    }
    return {**draft, "findings": list(answers["findings"])} if answers.get("findings") else draft


def _specification(task: EvalTask, answers: Answers) -> dict[str, object]:
    changed, present = list(answers.get("changes", {})), _present(task)
    draft: dict[str, object] = {
        "title": answers.get("title", _first_line(task.request)[:60]),
        "description": answers.get("goal", _first_line(task.request)[:_GOAL]),
        "requirements": [
            {
                "id": "REQ-001",
                "description": answers.get("goal", _first_line(task.request)[:_GOAL]),
                "priority": "must",
                "acceptance_criteria": list(answers["criteria"]),
                "verification_method": "test",
            }
        ],
        "symbols": [{"kind": "function", **one} for one in answers.get("symbols", ())],
        "files_to_modify": [path for path in changed if path in present],
        "files_to_create": [path for path in changed if path not in present],
        "trace_to_request": "all of it",
    }
    examples = [{"requirement": "REQ-001", **one} for one in answers.get("examples", ())]
    return {**draft, "examples": examples} if examples else draft


def _present(task: EvalTask) -> frozenset[str]:
    """The files of the repository in which the task begins."""
    if not task.source:
        return frozenset(task.repository)

    return frozenset((*task.repository, *Git.open(Path(task.source[0])).list_files(task.source[1])))


def _suite(answers: Answers) -> dict[str, object]:
    guards = set(answers.get("guards", ()))
    criteria = ", ".join(f"REQ-001.{number + 1}" for number in range(len(answers["criteria"])))
    return {
        "test_files": [
            {
                "path": path,
                "tests": [
                    {
                        "name": name,
                        "requirement_ref": "REQ-001",
                        "acceptance_criterion": criteria,
                        "kind": "guard" if name in guards else "target",
                    }
                    for name in declared_tests(text)
                ],
            }
            for path, text in answers["tests"].items()
        ]
    }


def _implementation(answers: Answers) -> dict[str, object]:
    return {"files_modified": [{"path": path, "changes_summary": "as asked"} for path in answers["changes"]]}


def _named_files(task: EvalTask, answers: Answers) -> Sequence[str]:
    """The files that the answers speak of, else the repository's first module."""
    named = answers.get("files") or [path for path in answers.get("changes", {}) if path in task.repository]
    modules = [path for path in task.repository if path.endswith(".py") and not _is_test(path)]
    return list(named) or modules[:1]


def _is_test(path: str) -> bool:
    return PurePosixPath(path).name.startswith("test_") or "tests" in PurePosixPath(path).parts


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]


def answers_from(
    *, path: str, source: str, name: str, signature: str, change: str, claims: Sequence[Claim]
) -> dict[str, Mapping[str, Any]]:
    """Answers that write `source` to `path`; {} when no example says what it returns.

    Args:
        change: "new" or "changed", said of the function `name`.
        claims: examples; those that raise are left out.
    """
    shown = [claim for claim in claims if claim.returns][:_MOST]
    if not shown or not source:
        return {}
    symbol = {"name": name, "file": path, "signature": signature, "change": change}
    honest = {
        "goal": f"{name} does what its description says",
        "criteria": [claim.text for claim in shown],
        "symbols": [symbol],
        "tests": {f"tests/test_{name}.py": _tests(path, name, shown)},
        "changes": {path: source},
    }
    return {"honest": honest}


def import_test(modules: Sequence[str]) -> str:
    """A test that the repository has before anything is asked: its modules can be found."""
    asserted = "\n".join(f"    assert find_spec({module!r})" for module in modules)
    return f"from importlib.util import find_spec\n\n\ndef test_the_modules_are_there():\n{asserted}\n"


def module_of(path: str) -> str:
    """Name the module that a file of the repository is."""
    return ".".join(PurePosixPath(path).with_suffix("").parts)


def _tests(path: str, name: str, claims: Sequence[Claim]) -> str:
    """Every example in one test: in a repair some of them hold already."""
    asserted = "\n".join(f"    assert {claim.call} == {claim.returns}" for claim in claims)
    return f"from {module_of(path)} import {name}\n\n\ndef test_{name}_does_what_the_examples_say():\n{asserted}\n"
