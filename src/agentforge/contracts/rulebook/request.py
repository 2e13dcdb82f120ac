"""Rules about understanding a request: the intake record, the clarification, the analysis."""

from __future__ import annotations

from agentforge.contracts.contract import Json
from agentforge.contracts.rule import (
    NotMeasuredError,
    RuleCase,
    RuleOutcome,
    broken,
    entries,
    held,
    judged,
    named,
    squeeze,
    strings,
    text,
)


def examples_verbatim(case: RuleCase) -> RuleOutcome:
    """Every example of the artifact was found in the request by the harness."""
    examples = strings(case.artifact, "examples")
    if not examples:
        return held(0)
    found = {str(item.get("text")) for item in case.fact_records("examples") if item.get("found") is True}
    wrong = [(path, f"{example!r} does not stand in the request") for path, example in examples if example not in found]
    return judged(wrong, measured=len(examples), fix="copy examples word for word, or leave them out")


def ambiguities_named(case: RuleCase) -> RuleOutcome:
    """Every ambiguity has a question."""
    listed = entries(case.artifact, "identified_ambiguities")
    wrong = [(f"{path}.question", "is empty") for path, item in listed if not text(item, "question")]
    return judged(wrong, measured=len(listed), fix="say what is unclear as one question")


def defaults_named(case: RuleCase) -> RuleOutcome:
    """Every ambiguity that does not block says what is assumed when nobody answers."""
    listed = [
        (path, item) for path, item in entries(case.artifact, "identified_ambiguities") if _impact(item) != "blocking"
    ]
    wrong = [(f"{path}.default", "is empty") for path, item in listed if not text(item, "default")]
    return judged(wrong, measured=len(listed), fix="name the assumption to take, or make the impact blocking")


def evidence_checked(case: RuleCase) -> RuleOutcome:
    """Every inferred answer has evidence, and the harness found all of it at the base commit."""
    inferred = [(p, q) for p, q in entries(case.artifact, "questions") if text(q, "source") == "agent_inference"]
    if not inferred:
        return held(0)
    checked = case.fact_records("evidence")
    wrong = [(path, problem) for path, question in inferred if (problem := _evidence_problem(question, checked))]
    return judged(wrong, measured=len(inferred), fix="quote a file that exists at the base, word for word, or assume")


def _evidence_problem(question: Json, checked: list[Json]) -> str:
    asked = text(question, "question")
    files = [text(item, "file") for _, item in entries(question, "evidence")]
    if not files:
        return f"{asked!r} has no evidence"
    mine = [item for item in checked if squeeze(str(item.get("question"))) == squeeze(asked)]
    good = {str(item.get("file")) for item in mine if item.get("ok") is True}
    bad = [f"{item.get('file')}: {item.get('reason') or 'not found'}" for item in mine if item.get("ok") is not True]
    unseen = [f"{file}: not checked" for file in files if file not in good and not any(b.startswith(file) for b in bad)]
    return ", ".join([*bad, *unseen])


def blocking_answered(case: RuleCase) -> RuleOutcome:
    """A blocking question is answered by evidence or by a human, never by an assumption."""
    answers = {squeeze(text(q, "question")): q for _, q in entries(case.artifact, "questions")}
    blocking = {
        squeeze(text(a, "question")): text(a, "question") for a in _ambiguities(case) if _impact(a) == "blocking"
    }
    blocking |= {key: text(q, "question") for key, q in answers.items() if _impact(q) == "blocking"}
    wrong = [
        ("questions", f"{asked!r} is not answered")
        for key, asked in blocking.items()
        if key not in answers or not text(answers[key], "answer") or text(answers[key], "source") == "assumption"
    ]
    return judged(wrong, measured=len(blocking), fix="answer it with evidence, or ask a human")


def ambiguities_settled(case: RuleCase) -> RuleOutcome:
    """Each ambiguity of the intake has an answer here, if only an assumption."""
    answered = {squeeze(text(q, "question")) for _, q in entries(case.artifact, "questions") if text(q, "answer")}
    asked = [text(item, "question") for item in _ambiguities(case) if text(item, "question")]
    wrong = [("questions", f"{question!r} is open") for question in asked if squeeze(question) not in answered]
    return judged(wrong, measured=len(asked), fix="answer each question in its own words, or record an assumption")


def humans_named(case: RuleCase) -> RuleOutcome:
    """An answer that claims to come from a human says from whom."""
    human = [(p, q) for p, q in entries(case.artifact, "questions") if text(q, "source") == "human_escalation"]
    wrong = [(f"{path}.resolved_by", "is empty") for path, item in human if not text(item, "resolved_by")]
    return judged(wrong, measured=len(human), fix="only the harness records human answers")


def paths_found(case: RuleCase) -> RuleOutcome:
    """Every file that the analysis names exists at the base commit."""
    named = _named_files(case)
    if not named:
        return held(0)
    known = {str(item.get("path")): item.get("exists") is True for item in case.fact_records("paths")}
    wrong = [(path, f"{file!r} does not exist at the base") for path, file in named if not known.get(file)]
    return judged(wrong, measured=len(named), fix="name files as they are in the repository")


def symbols_found(case: RuleCase) -> RuleOutcome:
    """Every symbol that the analysis names was found where it says."""
    named = entries(case.artifact, "symbols")
    if not named:
        return held(0)
    found = {(str(s.get("name")), str(s.get("file"))) for s in case.fact_records("symbols") if s.get("found") is True}
    wrong = [
        (path, f"{text(item, 'name')!r} was not found in {text(item, 'file')!r}")
        for path, item in named
        if (text(item, "name"), text(item, "file")) not in found
    ]
    return judged(wrong, measured=len(named), fix="name only symbols that you have seen")


def baseline_measured(case: RuleCase) -> RuleOutcome:
    """The suite was run at the base commit and its controls held; an analysis alone needs no more than the attempt."""
    baseline = case.fact_record("baseline")
    if "tests" not in baseline:
        raise NotMeasuredError("baseline was not measured")
    intake = case.input("intake_record") or {}
    intent = intake.get("extracted_intent")
    report_alone = isinstance(intent, dict) and intent.get("action") == "analyze"
    lost = baseline.get("measured") is False or baseline.get("canary") == "broken"
    if lost and not report_alone:
        reason = "; ".join(problem for _, problem in strings(baseline, "problems")) or "a control did not hold"
        timed_out = "; it did not end in time" if baseline.get("timed_out") is True else ""
        told = f"the suite's results at the base cannot be trusted: {reason}{timed_out} - set [test] command or timeout"
        return broken(told, measured=baseline.get("tests"))
    return held(baseline.get("tests"))


def _named_files(case: RuleCase) -> list[tuple[str, str]]:
    files = strings(case.artifact, "impacted_files")
    files += [(f"{path}.path", text(item, "path")) for path, item in entries(case.artifact, "modules")]
    return files


def _ambiguities(case: RuleCase) -> list[Json]:
    return [item for _, item in entries(case.needed_input("intake_record"), "identified_ambiguities")]


def _impact(record: Json) -> str:
    """Blocking, significant or minor; what was not said is significant."""
    return text(record, "impact") or "significant"


RULES = named(
    ("examples-verbatim", "examples stand in the request word for word", examples_verbatim, "repair"),
    ("ambiguities-named", "every ambiguity asks a question", ambiguities_named, "repair"),
    ("defaults-named", "every ambiguity that does not block names a default", defaults_named, "repair"),
    ("evidence-checked", "evidence was checked", evidence_checked, "repair"),
    ("blocking-answered", "no blocking question is unanswered", blocking_answered, "fact"),
    ("ambiguities-settled", "every ambiguity of the request is settled", ambiguities_settled, "repair"),
    ("humans-named", "every human answer names who gave it", humans_named, "fact"),
    ("files-found", "all named files exist at the base", paths_found, "repair"),
    ("symbols-found", "all named symbols were found", symbols_found, "repair"),
    ("baseline-measured", "the base line was measured", baseline_measured, "fact"),
)
