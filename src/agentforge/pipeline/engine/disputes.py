"""Disputes between the request and tests: the question that each ends in, and what a human ruled. Pure.

`contradictions.py` finds them, before a model specifies anything; `rulings.py` carries out what a human ruled: the request holds,
and the test is changed as part of the work; or the test holds, and that sentence of the request counts no more.

Checks of single calls that a stage is stuck on: what a human may say of each, and which of them one took away. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.canonical import digest_value
from agentforge.events.kinds.choices import Choice, fixed
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import Json, StageQuestion, items, texts
from agentforge.testing.outcome import without_parameters

UNMET = "unmet_tests"
REQUEST_HOLDS, TEST_HOLDS = "the request holds", "the test holds"
DISPUTE = "dispute"
"""The name under which a question keeps its dispute."""
REQUEST, GIVEN, BASE = "request", "given", "base"
"""Who states a result: the request, a test of the user's own, a test of the repository."""


def questions(state: RunState) -> tuple[StageQuestion, ...]:
    """What a human must settle before anything is specified: each dispute, with both texts."""
    facts = state.review.submission.facts if state.review.submission else None
    return tuple(_question(row) for row in items((facts or {}).get("disputes")))


def _question(row: Json) -> StageQuestion:
    results = items(row.get("results"))
    shown = "\n".join(f"- {side_text(side)}" for result in results for side in items(result.get("sides")))
    tests = any(side.get("path") for result in results for side in items(result.get("sides")))
    parties = "The request and a test contradict each other" if tests else "The request contradicts itself"
    return StageQuestion(
        key=f"{DISPUTE}:{digest_value([row.get('call'), [result_text(one) for one in results]])[:12]}",
        text=f"{parties} about {row.get('call')}. Which holds?\n{shown}",
        reason="two different results are stated for the same call, and no implementation can give both",
        context=((DISPUTE, dict(row)),),
        choices=tuple(_choice(one, results) for one in results if _can_hold(one, results)),
    )


def side_text(side: Json) -> str:
    """Who says it, where, and in which words."""
    if side.get("by") == REQUEST:
        return f"the request says: {side.get('quote')}"
    whose = "supplied with the request" if side.get("by") == GIVEN else "a test of the repository"
    return f"{side.get('where')} ({side.get('test')}, {whose}) says: {side.get('quote')}"


def _can_hold(result: Json, results: Sequence[Json]) -> bool:
    """Whether every test that states something else can be written anew."""
    others = [side for other in results if other is not result for side in items(other.get("sides"))]
    return all(side.get("fixed") is not False for side in others)


def _choice(result: Json, results: Sequence[Json]) -> Choice:
    others = [side for other in results if other is not result for side in items(other.get("sides"))]
    changed = list(dict.fromkeys(str(side.get("where")) for side in others if side.get("path")))
    effects = (
        [f"AgentForge changes {', '.join(changed)} as part of the work, so that the call {result_text(result)} there"]
        if changed
        else []
    )
    if any(side.get("by") == REQUEST for side in others):
        effects.append("where the request says otherwise, it is overruled, and every later stage is told so")
    label = label_of(result, results)
    return Choice(label=label, then=f"{'; '.join(effects)}. The report says so.", decision="answer", text=label)


def label_of(result: Json, results: Sequence[Json]) -> str:
    """Which side holds; with its result where that alone does not tell the results apart."""
    parties = [_party(one) for one in results]
    party = _party(result)
    if parties.count(party) == 1:
        return f"{party} holds"
    return f"{party} holds, result {results.index(result) + 1}: it {result_text(result)}"


def _party(result: Json) -> str:
    return "the request" if any(one.get("by") == REQUEST for one in items(result.get("sides"))) else "the test"


def result_text(result: Json) -> str:
    """`gives 3`, `raises ValueError`."""
    return f"raises {result.get('raises')}" if result.get("raises") else f"gives {result.get('returns')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a human decided of a dispute: the result that holds, and those that do not."""

    call: str
    upheld: Json
    overruled: tuple[Json, ...]

    @property
    def line(self) -> str:
        """The decision in one line."""
        against = [side_text(side) for result in self.overruled for side in items(result.get("sides"))]
        return f"{self.call} {result_text(self.upheld)}: a human decided so. Overruled: {'; '.join(against)}"


def rulings(state: RunState) -> list[Ruling]:
    """What humans decided of the disputes of this run."""
    found = []
    for item in state.people.escalations.values():
        row, answer = item.context.get(DISPUTE), item.resolution
        if not isinstance(row, Mapping) or answer is None or answer.decision != "answer":
            continue
        results = items(row.get("results"))
        for one in results:
            if _plain(label_of(one, results)) == _plain(answer.text):
                others = tuple(other for other in results if other is not one)
                found.append(Ruling(call=str(row.get("call")), upheld=one, overruled=others))
    return found


def rulings_text(state: RunState) -> str:
    """The rulings for a model, one in a line."""
    lines = [one.line for one in rulings(state)]
    for answer, row in _unmet_rulings(state):
        said = side_text(row)
        lines.append(
            f"a human took this test out, for the request holds: {said}"
            if answer == REQUEST_HOLDS
            else f"a human decided that this test holds, and that the request is overruled where it says otherwise: {said}"
        )
    return "\n".join(f"- {line}" for line in lines)


def overruled_tests(state: RunState, *, by: str = "") -> tuple[tuple[str, str], ...]:
    """(path, name) of the tests whose assertion a human overruled.

    Args:
        by: "given" or "base" for those alone.
    """
    sides = [side for one in rulings(state) for result in one.overruled for side in items(result.get("sides"))]
    wanted = [side for side in sides if side.get("path") and by in ("", side.get("by"))]
    return tuple(dict.fromkeys((str(side.get("path")), str(side.get("test"))) for side in wanted))


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("`'\". ").lower()


def unmet_question(state: RunState, stage: str) -> tuple[str, Json, tuple[Choice, ...]]:
    """What a stage that is stuck on people's own tests asks: the text with both sides, the context and what can be chosen.

    Returns:
        ("", {}, ()) where the stage is stuck on something else.
    """
    unmet = state.work.facts.get(stage, {}).get(UNMET)
    rows = items(unmet.get("rows")) if isinstance(unmet, Mapping) else []
    if not rows or not isinstance(unmet, Mapping):
        return "", {}, ()
    shown = "\n".join(f"- {side_text(row)}" for row in rows)
    text = (
        "No implementation that was tried passes these tests. Do they contradict the request?\n"
        f"- the request says: {unmet.get('request')}\n{shown}"
    )
    out = Choice(
        label=REQUEST_HOLDS,
        then="AgentForge takes these tests out, and measures the suite again without them. The report says so.",
        decision="answer", text=REQUEST_HOLDS, reopen="red",
    )  # fmt: skip
    kept = Choice(
        label=TEST_HOLDS,
        then="The model writes the specification again. Where the request says otherwise, it is overruled. The report says so.",
        decision="answer", text=TEST_HOLDS, reopen="spec",
    )  # fmt: skip
    return text, {UNMET: rows}, (*((out,) if _others_remain(rows, state) else ()), kept)


def _others_remain(rows: Sequence[Json], state: RunState) -> bool:
    """Whether a test that fails without the change is left when these are gone."""
    gone = {(row.get("path"), row.get("test")) for row in rows}
    tests = [row for row in items(state.work.facts.get("red", {}).get("tests")) if row.get("kind") == "target"]
    names = [without_parameters(str(row.get("id"))).partition("::") for row in tests]
    return any((path, name) not in gone for path, _, name in names)


def _unmet_rulings(state: RunState) -> list[tuple[str, Json]]:
    """(the request holds or the test holds, the test) of every answer to a stage that was stuck on people's own tests."""
    return [
        (item.resolution.text, row)
        for item in state.people.escalations.values()
        if item.resolution is not None and item.resolution.decision == "answer" and item.resolution.reopen
        for row in items(item.context.get(UNMET))
        if item.resolution.text in (REQUEST_HOLDS, TEST_HOLDS)
    ]


def set_aside(state: RunState, *, by: str = "") -> tuple[tuple[str, str], ...]:
    """(path, name) of the tests that a human took out, because the request holds.

    Args:
        by: "given" or "base" for those alone.
    """
    rows = [row for answer, row in _unmet_rulings(state) if answer == REQUEST_HOLDS]
    return tuple((str(row.get("path")), str(row.get("test"))) for row in rows if by in ("", row.get("by")))


CHECKS = "checks"
"""The name under which a question keeps the calls that can be taken away."""
_MOST = 5


def check_choices(facts: Json) -> tuple[tuple[str, ...], tuple[Choice, ...]]:
    """The calls whose result was checked and is another one, and an answer for each that takes the check away.

    Args:
        facts: of the stage that is stuck.
    """
    held_out = facts.get("held_out")
    rows = items(held_out.get("failed")) if isinstance(held_out, Mapping) else []
    calls = tuple(dict.fromkeys(str(row["call"]) for row in rows if row.get("call")))[:_MOST]
    then = "AgentForge drops this check and does the stage again without it. The report names your answer."
    return calls, tuple(fixed(_wrong(call), then) for call in calls)


def refuted(state: RunState) -> frozenset[str]:
    """The calls whose check a human took away."""
    return frozenset(
        call
        for item in state.people.escalations.values()
        if item.resolution is not None and item.resolution.decision == "answer"
        for call in texts(item.context.get(CHECKS))
        if item.resolution.text == _wrong(call)
    )


def _wrong(call: str) -> str:
    return f"the check of {call} is wrong"
