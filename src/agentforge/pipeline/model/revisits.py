"""The road back: when what GREEN measured shows that the tests are too weak, RED is opened again to add some. Pure.

A fact `weak_tests` {findings: [{rule, path, message}], returns, ask} of GREEN starts it, whoever wrote the findings. Here is
also how many attempts a stage has: the count restarts whenever a human answers, or has the stage done again. And whether
what a stage's earlier work follows from is what it was.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.agent import Effect, Stop
from agentforge.events.fold.revisits import draft_kept
from agentforge.events.kinds.choices import fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.model.effects import Ask, EndReopening, Reopen
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.workspace.code.relevance import is_test_path


def attempts_allowed(state: RunState, stage: str, *, by_model: bool) -> int:
    """The number of the last attempt before a human is asked (again)."""
    answered = [item.context.get("attempt") for item in stuck_and_answered(state, stage)]
    since = state.progress.stages[stage].since if stage in state.progress.stages else 0
    before = max((number for number in answered if isinstance(number, int)), default=0)
    before = max(before, since)
    if not by_model:  # nobody would do it differently the second time
        return before + 1
    # What was laid back and measured again is no attempt of the model.
    again = before == since and state.review.kept.get(stage, {}).get("measured") is True
    return before + state.brief.limits.attempts + again


def stuck_and_answered(state: RunState, stage: str) -> list[Escalation]:
    """How a stage was stuck and a human said how to go on."""
    return [
        item
        for item in state.people.escalations.values()
        if item.stage == stage and item.kind == "stuck" and item.resolution
    ]


ATTEMPTS = 2
"""Submissions of a stage that was opened again before the run goes on without what it was to add."""


def weaknesses(facts: Json) -> list[Json]:
    """What the tests do not notice, as GREEN measured it."""
    told = facts.get("weak_tests")
    return items(told.get("findings")) if isinstance(told, Mapping) else []


def is_open(state: RunState) -> bool:
    """Whether the current stage was opened again to add tests."""
    return state.review.reopened is not None and state.review.reopened.open


def is_opened_again(state: RunState, stage: str) -> bool:
    """Tell whether a stage is the one that was opened again to add tests."""
    return is_open(state) and state.review.reopened is not None and state.review.reopened.stage == stage


def returns_left(state: RunState, returns: object) -> bool:
    """Whether RED may be opened (again): the user's own tests are never added to."""
    used = state.review.reopened.times if state.review.reopened else 0
    return (
        not state.brief.tests
        and profile_of(state).adds_tests
        and not state.identity.candidate
        and isinstance(returns, int)
        and used < returns
    )


def reopening(state: RunState) -> Effect | None:
    """What follows from a verdict of GREEN that passed over tests that are too weak; None when the run simply goes on."""
    facts = state.work.facts.get("green", {})
    found = weaknesses(facts)
    told = facts.get("weak_tests")
    if not found or not isinstance(told, Mapping):
        return None
    if returns_left(state, told.get("returns")):
        return Reopen(stage="red", by="green", reason="tests_too_weak", findings=tuple(found))
    key = f"too-weak:{facts.get('tree', '')}"
    asked = any(item.context.get("key") == key for item in state.people.escalations.values())
    if told.get("ask") is not True or asked:
        return None
    listed = "\n".join(f"- {item.get('message', '')}" for item in found[:8])
    return Ask(
        stage=state.progress.stage,
        kind="question",
        reason="the tests are weaker than your settings in [verification] allow",
        question=f"Shall AgentForge deliver all the same? The tests do not notice:\n{listed}",
        options=("deliver",),
        context=(("key", key),),
        choices=(
            fixed(
                "deliver",
                "AgentForge delivers with the tests as they are, and the report names what they do not notice.",
            ),
        ),
    )


def ending(state: RunState, stop: Effect | None = None) -> Effect | None:
    """Leave the road when it leads nowhere: attempts used up, a limit reached, the model gone. None while it goes on.

    Args:
        stop: what the agent loop wants next.
    """
    reopened = state.review.reopened
    if reopened is None or not reopened.open:
        return None
    reason = ""
    if isinstance(stop, Stop) and stop.kind != "approval":
        reason = stop.reason
    elif state.progress.error is not None:
        reason = f"the model could not be asked: {state.progress.error.get('message', '')}"
    elif stop is None and state.progress.stages[reopened.stage].attempt >= reopened.attempt + ATTEMPTS:
        reason = f"{ATTEMPTS} attempts to add tests were not accepted"
    return EndReopening(stage=reopened.stage, reason=reason) if reason else None


def understood_alike(state: RunState) -> bool:
    """Tell whether the questions and the analysis behind a specification are what they were."""
    return all(_had(state, name) == dict(state.work.artifacts.get(name, {})) for name in ("clarify", "analyze"))


def demanded_alike(state: RunState) -> bool:
    """Tell whether the requirements behind the tests are what they were.

    Tests say what the requirements say: where one of these changed, nobody but the model can tell whether the tests still do.
    What the specification only lists more than before, tests that change or symbols, takes nothing from them.
    """
    kept = state.review.kept["red"]
    older = not kept.get("work")  # a log that was written when every word of a signature counted
    (rows, symbols), (rows_now, symbols_now) = (
        _demands(spec, results=older) for spec in (_had(state, "spec"), state.work.artifacts.get("spec", {}))
    )
    if not kept.get("lists_apart"):
        return (rows, symbols) == (rows_now, symbols_now)
    return rows == rows_now and all(one in symbols_now for one in symbols if not is_test_path(str(one[0] or "")))


def _had(state: RunState, stage: str) -> Json:
    """What a stage had then; what it has where it was not done again."""
    return draft_kept(state, stage) or state.work.artifacts.get(stage, {})


def _demands(spec: Json, *, results: bool) -> tuple[list[object], list[tuple[object, ...]]]:
    """What tests are written from: the criteria, and how what they use is called.

    Args:
        results: with the types that Python's signatures tell of results, which change no call.
    """
    rows: list[object] = [
        (row.get("id"), texts(row.get("acceptance_criteria"))) for row in items(spec.get("requirements"))
    ]
    symbols: list[tuple[object, ...]] = [
        (row.get("file"), row.get("name"), _call(row, results=results), row.get("change"))
        for row in items(spec.get("symbols"))
    ]
    return rows, symbols


def _call(symbol: Json, *, results: bool) -> object:
    signature = symbol.get("signature")
    if results or not isinstance(signature, str) or not str(symbol.get("file")).endswith(".py"):
        return signature
    call, arrow, _ = signature.rpartition(") ->")
    return f"{call})" if arrow else signature
