"""The base line of a task: when it is measured, what is asked where it cannot be trusted, and how it is told. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.agent import Effect
from agentforge.events.kinds.choices import Choice, fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.model.effects import Ask, MeasureBaseline
from agentforge.pipeline.model.revisits import stuck_and_answered
from agentforge.pipeline.model.stage import Json, action_of, items, texts

AGAIN, WITHOUT, LONGER = "again", "go on", "longer"
_TIMES_LONGER = 4
_THEN = {
    AGAIN: "AgentForge measures the baseline again.",
    WITHOUT: "The task continues with the tests that run. AgentForge does not see what the others check.",
    LONGER: f"AgentForge measures the baseline again, and gives the suite {_TIMES_LONGER} times as long.",
}
_UNMEASURED = "the tests cannot be run at the base commit"
_COUNTED = (
    ("passed", "passes", "pass"),
    ("failed", "fails", "fail"),
    ("error", "breaks before or after it runs", "break before or after they run"),
    ("skipped", "is skipped or to do", "are skipped or to do"),
    ("xfailed", "is expected to fail", "are expected to fail"),
    ("xpassed", "passes against expectation", "pass against expectation"),
)


def base_line_first(state: RunState, _order: Sequence[str] = ()) -> Effect | None:
    """Measure the base line first; one that cannot be trusted is a human's to repair, then it is measured again.

    A request that only wants an analysis needs none.
    """
    base = state.work.facts.get("baseline")
    answers = _answered(state)
    if base is None:
        return MeasureBaseline(attempt=1)
    if action_of(state) == "analyze" or not (base.get("measured") is False or base.get("blind") is True):
        return None
    attempt = base.get("attempt")
    asked = answers[-1] if answers and attempt == len(answers) else None
    if asked is None:
        return _question(base)
    if base.get("measured") is not False and _lets_go(asked):
        return None
    return MeasureBaseline(attempt=len(answers) + 1)


def time_limit(state: RunState, usual_s: float) -> float:
    """How long one run of the suite may take, seconds: longer after each answer that says so."""
    longer = [one for one in _answered(state) if _words(one) == LONGER]
    return usual_s * float(_TIMES_LONGER ** len(longer))


def tests_text(base: Json) -> str:
    """How many tests there are and how they ended, in words: failing, skipped and expected failures are told apart."""
    counts = base.get("outcomes")
    tests = base.get("tests")
    if not isinstance(counts, Mapping) or not counts:
        skipped = f", {base.get('skipped')} are skipped" if base.get("skipped") else ""
        return f"{base.get('passed', 0)} of {tests or 0} tests pass{skipped}"
    told = [
        f"{counts[name]:,} {one if counts[name] == 1 else many}"
        for name, one, many in _COUNTED
        if isinstance(counts.get(name), int) and counts[name]
    ]
    if list(counts) == ["passed"]:
        return f"all {tests} tests pass" if tests != 1 else "the only test passes"
    return f"of {tests} test{'' if tests == 1 else 's'} {', '.join(told)}"


def cause_lines(base: Json) -> list[str]:
    """Why files cannot be loaded and tests miss what they need, a line for each cause, with what helps."""
    lines = []
    for cause in items(base.get("causes")):
        kept = [
            f"{cause.get(count)} {noun}{'' if cause.get(count) == 1 else 's'}"
            for count, noun in (("file_count", "test file"), ("test_count", "test"))
            if cause.get(count)
        ]
        named = [*texts(cause.get("files")), *texts(cause.get("tests"))][:3]
        remedy = f"; {cause.get('remedy')}" if cause.get("remedy") else ""
        lines.append(f"{' and '.join(kept)} cannot run: {cause.get('text')} ({', '.join(named)}){remedy}")
    return lines


def plan_lines(base: Json) -> list[str]:
    """The plan by which the tests run: command, python, what runs before them, what is left out."""
    lines = [f"{base.get('runner')}: {base.get('command')}"] if base.get("command") else []
    if base.get("interpreter"):
        lines[-1:] = [f"{lines[-1] if lines else base.get('runner')} ({base.get('interpreter')})"]
    lines += [f"before the tests: {command}" for command in texts(base.get("prepare"))]
    lines += [f"left out: {one}" for one in texts(base.get("left_out"))]
    return lines


def _answered(state: RunState) -> list[Escalation]:
    """The questions about the base line that a human has answered; runs of 0.1.0 had no mark on them."""
    answered = stuck_and_answered(state, "analyze")
    marked = [item for item in answered if "base_line" in item.context]
    return marked or (answered if state.work.facts.get("baseline", {}).get("measured") is False else [])


def _question(base: Json) -> Ask:
    """What is wrong with the base line, and every answer that changes something."""
    causes = cause_lines(base)
    told = [one for one in texts(base.get("problems")) if not any(one in line for line in causes)] + causes
    if base.get("timed_out"):
        told.append("the suite did not end in time")
    if base.get("measured") is not False:
        return Ask(
            stage="analyze",
            kind="stuck",
            reason=f"most tests cannot run at the base commit, so there is no baseline: {'; '.join(told)}",
            question=f"Too few tests run now ({tests_text(base)}). Repair that and answer `{AGAIN}`: AgentForge measures "
            f"the baseline again. Or answer `{WITHOUT}`: the task uses the tests that run and misses what the others check.",
            options=(AGAIN, WITHOUT),
            context=(("base_line", "blind"),),
            choices=_choices((AGAIN, WITHOUT)),
        )
    longer = bool(base.get("timed_out"))
    more = f" Or answer `{LONGER}`: the suite gets {_TIMES_LONGER} times as long in this task." if longer else ""
    return Ask(
        stage="analyze",
        kind="stuck",
        reason=f"{_UNMEASURED}: {'; '.join(told) or 'a control of the test run did not hold'}",
        question="Repair how the tests run ([test] command, python, timeout in .agentforge/config.toml), then answer "
        f"`{AGAIN}`: AgentForge measures the baseline again.{more}",
        options=(AGAIN, LONGER) if longer else (AGAIN,),
        context=(("base_line", "unmeasured"),),
        choices=_choices((AGAIN, LONGER) if longer else (AGAIN,)),
    )


def _choices(words: tuple[str, ...]) -> tuple[Choice, ...]:
    return tuple(fixed(word, _THEN[word]) for word in words)


def _lets_go(asked: Escalation) -> bool:
    """Whether a human said that the task goes on with the tests that run."""
    return _words(asked) == WITHOUT or (asked.resolution is not None and asked.resolution.decision == "approve")


def _words(asked: Escalation) -> str:
    return asked.resolution.text.strip().strip("`'\".").lower() if asked.resolution is not None else ""
