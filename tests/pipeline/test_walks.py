"""Whole runs without any effect: whatever models, measurements, humans and crashes do, there is a next effect or an end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, settings, strategies as st

from agentforge.agent.decide import CallModel, FinishStep, RunTool
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.kinds.choices import choices_of, taken
from agentforge.events.state.attempt import RECENT_STEPS, VIEWS_KEPT
from agentforge.events.state.run_state import Limits, RunState
from agentforge.pipeline.context.step_context import verification_status
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.engine.questions import with_choices
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import ARTIFACTS, INTAKE, fold

STAGES = load_stages()
DECISIONS = ("answer", "approve", "reject")
TOOLS = ("submit_artifact", "read_file", "edit", "ask_human")
Choose = Callable[[Any], Any]
NEWS = (kinds.FactsGathered, kinds.ModelReplied, kinds.ModelFailed, kinds.TaskAwaited, kinds.RunResumed)
"""What changes the facts: a measurement, a reply, a look at another run, another limit."""


def signature(item: Any) -> str:
    """What makes two questions the same one."""
    return repr((item.stage, item.kind, item.reason, item.question, item.context.get("key"), item.context.get("step")))


class World:
    """Plays everything that is not the pipeline: `choose` picks one of several outcomes."""

    def __init__(self, choose: Choose, **start: Any) -> None:
        self.choose = choose
        self.state = with_fields(fold(), **start)
        self.news = 0
        self.answered: dict[str, int] = {}
        self.owed = ""

    def tell(self, event: Event) -> None:
        self.state = evolve(self.state, event, at="2026-01-01T00:00:01Z")
        self.news += isinstance(event, NEWS)

    def go(self, most: int) -> None:
        """Go on until the run is over, at most `most` effects long."""
        for _ in range(most):
            effect = decide(self.state, STAGES)
            if effect is None and self.state.progress.outcome:
                return
            if effect is None:
                self.answer()
                continue
            for event in self.perform(effect):
                self.tell(event)
                if self.choose((False,) * 9 + (True,)):  # the process dies here and is started again
                    self.tell(kinds.RunResumed(pid=1))
                    break

    def answer(self) -> None:
        """Take one of the choices that the question offers."""
        item = self.state.people.open_escalations[0]
        offered = [choice for choice in choices_of(item) if not choice.limit and choice.decision != "abort"]
        choice = self.choose(offered)
        words = f"words {len(self.answered)}" if choice.words else choice.text
        told = {"decision": choice.decision, "text": words, "reopen": choice.reopen}
        assert taken(item, decision=choice.decision, text=words, reopen=choice.reopen) == choice
        self.answered[signature(item)] = self.news
        if item.kind == "limit":
            self.tell(kinds.RunResumed(pid=1, limits={"max_steps": self.state.usage.totals.steps + 50}))
        self.tell(kinds.EscalationResolved(escalation_id=item.escalation_id, **told))
        in_the_clarification = "clarify" in (choice.reopen, item.stage)  # an entry of its own, which all stages read
        for_the_model = choice.words and not in_the_clarification
        self.owed = words if for_the_model and "step" not in item.context else self.owed

    def perform(self, effect: Any) -> Iterator[Event]:
        yield from getattr(self, f"on_{type(effect).__name__}")(effect)

    def on_StartStage(self, effect: Any) -> Iterator[Event]:
        yield kinds.StageStarted(stage=effect.stage, attempt=effect.attempt)

    def on_SkipStage(self, effect: Any) -> Iterator[Event]:
        yield kinds.StageSkipped(stage=effect.stage, reason=effect.reason)

    def on_MeasureBaseline(self, effect: Any) -> Iterator[Event]:
        facts = {"measured": self.choose((True, False)), "attempt": effect.attempt}
        yield kinds.FactsGathered(name="baseline", attempt=effect.attempt, facts=facts, tree="t0")

    def on_MeasureImpact(self, _effect: Any) -> Iterator[Event]:
        yield kinds.FactsGathered(name="impact", attempt=1, facts={"tests": []})

    def on_Reopen(self, effect: Any) -> Iterator[Event]:
        yield kinds.StageReopened(
            stage=effect.stage, by=effect.by, reason=effect.reason, findings=effect.findings, undone=effect.undone,
            answer=effect.answer, escalation_id=effect.escalation_id, tree="t0", keep=True,
        )  # fmt: skip

    def on_SubmitKept(self, effect: Any) -> Iterator[Event]:
        yield kinds.ArtifactSubmitted(stage=effect.stage, attempt=1, draft={}, by="harness")

    def on_EndReopening(self, effect: Any) -> Iterator[Event]:
        yield kinds.ReopeningEnded(stage=effect.stage, reason=effect.reason)

    def on_CallModel(self, effect: CallModel) -> Iterator[Event]:
        stage = self.state.progress.stage
        heard = "\n".join(
            [*self.state.people.answers, *(str(item.get("message")) for item in self.state.review.findings)]
        )
        assert self.owed in heard, f"the model of {stage} does not read {self.owed!r}"
        self.owed = ""
        yield kinds.ModelCalled(step=effect.step, stage=stage, attempt=1, model="m", request="r", context_tokens=9)
        names = self.choose(((), TOOLS[:1], TOOLS[:2], TOOLS[1:3], TOOLS[3:], TOOLS, None))
        if names is None:
            yield kinds.ModelFailed(step=effect.step, slug="model-unavailable", message="503")
            return
        calls = tuple({"call_id": f"c{n}", "name": name, "arguments": "{}"} for n, name in enumerate(names))
        yield kinds.ModelReplied(
            step=effect.step, text="", tool_calls=calls, finish="stop", usage={"prompt_tokens": 9}, model="m"
        )

    def on_RunTool(self, effect: RunTool) -> Iterator[Event]:
        turn = self.state.progress.turn
        call = turn.calls[effect.index]
        place = {"step": turn.step, "index": effect.index, "call_id": call.call_id, "name": call.name}
        if not effect.in_doubt and not effect.refusal:
            yield kinds.ToolStarted(**place, arguments={}, effect="read")
        if call.name == "submit_artifact" and not effect.refusal:
            yield kinds.ArtifactSubmitted(
                stage=self.state.progress.stage, attempt=1, draft={}, by="model", step=turn.step
            )
        if call.name == "ask_human" and not effect.refusal:
            yield self.raised(
                kind="question", stage=self.state.progress.stage, context={"step": turn.step, "call": effect.index}
            )
        view = {"path": f"f{turn.step}", "offset": 1} if call.name == "read_file" else None
        result = str(self.choose((1, 2, 3)))
        yield kinds.ToolFinished(**place, status="success", summary="s", view=view, result=result)

    def raised(self, **values: Any) -> Event:
        number = len(self.state.people.escalations) + 1
        event = kinds.EscalationRaised(escalation_id=f"E{number}", reason="r", question="?", **values)
        return with_choices(event, self.state, STAGES)

    def on_FinishStep(self, effect: FinishStep) -> Iterator[Event]:
        yield kinds.StepFinished(step=effect.step, stage=self.state.progress.stage, summary="")

    def on_SubmitDraft(self, effect: Any) -> Iterator[Event]:
        draft = STAGES[effect.stage].draft(self.state)
        yield kinds.ArtifactSubmitted(stage=effect.stage, attempt=1, draft=draft, by="harness")

    def on_GatherFacts(self, effect: Any) -> Iterator[Event]:
        if self.choose((False, False, True)):
            yield self.verdict(effect.stage, passed=False)
        else:
            weak = {"findings": [{"rule": "survivor", "message": "m"}], "returns": 1, "ask": self.choose((True, False))}
            facts: dict[str, Any] = {"fact": 1, **({"weak_tests": weak} if self.choose((False, True)) else {})}
            if effect.stage in ("green", "deliver") and self.choose((False, False, True)):
                message = str(self.choose((1, 2)))
                facts["belongs_to"] = [{"stage": "red", "rule": "types", "path": "p", "message": message}]
            yield kinds.FactsGathered(name=effect.stage, attempt=1, facts=facts, tree="t1")

    def on_Judge(self, effect: Any) -> Iterator[Event]:
        yield self.verdict(effect.stage, passed=self.choose((True, True, False)))

    def verdict(self, stage: str, *, passed: bool) -> Event:
        artifact = dict(ARTIFACTS[stage])
        if stage == "intake":
            action = self.choose(("create", "refactor", "analyze"))
            impact = self.choose(("blocking", "significant", "minor"))
            artifact["extracted_intent"] = {**INTAKE["extracted_intent"], "action": action}
            asked = ("Which?", "Whose?")[: self.choose((1, 2))]
            artifact["identified_ambiguities"] = [
                {"question": question, "impact": impact, "default": "a"} for question in asked
            ]
        digest = self.choose(("d1", "d2"))
        return kinds.StageVerified(
            stage=stage, attempt=1, passed=passed, contract="k", contract_digest="", artifact=artifact,
            artifact_digest=digest, results=({"rule": "holds", "passed": passed, "message": "m"},),
        )  # fmt: skip

    def on_Ask(self, effect: Any) -> Iterator[Event]:
        for number, one in enumerate((effect, *effect.also)):
            event = kinds.EscalationRaised(
                escalation_id=f"E{len(self.state.people.escalations) + 1}", stage=one.stage, kind=one.kind, reason=one.reason,
                question=one.question, options=one.options, context=dict(one.context),
                choices=tuple(choice.value for choice in one.choices), following=len(effect.also) - number,
            )  # fmt: skip
            asked = with_choices(event, self.state, STAGES)
            known = self.answered.get(signature(asked))
            assert known is None or self.news > known, f"asked again on the same facts: {asked}"
            yield asked

    def on_PassStage(self, effect: Any) -> Iterator[Event]:
        yield kinds.StagePassed(stage=effect.stage, artifact_digest="d")

    def on_Attest(self, _effect: Any) -> Iterator[Event]:
        yield kinds.Attested(envelopes="e")

    def on_Deliver(self, _effect: Any) -> Iterator[Event]:
        yield kinds.Delivered(branch="b", commit="c", tree="t")

    def on_Finish(self, effect: Any) -> Iterator[Event]:
        yield kinds.RunFinished(outcome=effect.outcome)


@settings(max_examples=120, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.sampled_from(["autonomous", "supervised", "interactive"]),
    st.sampled_from([(), ("spec",), ("deliver",)]),
    st.sampled_from([(), ("tests/test_x.py",)]),
    st.integers(min_value=1, max_value=3),
)
def test_there_is_a_next_effect_or_an_end_in_every_state_that_can_be_reached(
    chance: Any, mode: str, approve: tuple[str, ...], tests: tuple[str, ...], attempts: int
) -> None:
    limits = Limits(attempts=attempts, stage_steps=6, max_steps=40)
    world = World(chance.choice, mode=mode, approve=approve, tests=tests, limits=limits)
    world.go(150)
    turn = world.state.progress.turn
    assert len(turn.recent) <= RECENT_STEPS and len(turn.views) <= VIEWS_KEPT
    verification_status(world.state)


def first(options: Any) -> Any:
    return TOOLS[:1] if TOOLS in options else options[0]


def named(options: Any, label: str) -> Any:
    """The choice of that name, where there is one."""
    return next((one for one in options if getattr(one, "label", "") == label), None) or first(options)


def test_a_world_without_trouble_leads_to_delivery() -> None:
    world = World(first)
    world.go(200)
    assert (world.state.progress.outcome, list(world.state.progress.stages)) == ("delivered", list(STAGES))
    assert {stage.status for stage in world.state.progress.stages.values()} == {"verified"}
    assert world.state.usage.totals.steps == 6  # all stages but refactor and deliver


def test_supervised_asks_once_for_every_artifact() -> None:
    def approving(options: Any) -> Any:
        return named(options, "approve")

    world = World(approving, mode="supervised")
    world.go(300)
    approvals = [item.stage for item in world.state.people.escalations.values() if item.kind == "approval"]
    assert (world.state.progress.outcome, approvals) == ("delivered", list(STAGES))


def test_an_abort_ends_the_run_at_the_next_decision() -> None:
    world = World(lambda options: first(options), mode="supervised")
    world.go(1)
    while not world.state.people.open_escalations:
        world.go(1)
    world.tell(kinds.EscalationResolved(escalation_id="E1", decision="abort"))
    world.go(1)
    assert world.state.progress.outcome == "aborted"


EVENTS: list[Event] = [
    kinds.RunStarted(kind="task", run_id="t", request="r", repo="/r", base_commit="c", limits={"new": 1}),
    kinds.RunResumed(pid=1, limits={"max_steps": 3}),
    kinds.LogRecovered(quarantined_bytes=1, quarantine="q"),
    kinds.StageStarted(stage="spec", attempt=1),
    kinds.StageStarted(stage="spec", attempt=2),
    kinds.StageSkipped(stage="red", reason="r"),
    kinds.ModelCalled(step=1, stage="spec", attempt=1, model="m", request="r", context_tokens=1),
    kinds.ModelReplied(step=1, text="", tool_calls=(), finish="stop", usage={}, model="m"),
    kinds.ModelFailed(step=1, slug="s", message="m"),
    kinds.ToolStarted(step=1, index=0, call_id="c", name="edit", arguments={}, effect="write"),
    kinds.ToolFinished(step=1, index=0, call_id="c", name="x", status="error", summary="s", view={"path": "p"}),
    kinds.StepFinished(step=1, stage="spec", summary="s", tree="t"),
    kinds.ArtifactSubmitted(stage="spec", attempt=1, draft={}, by="model"),
    kinds.FactsGathered(name="spec", attempt=1, facts={}, tree="t", evidence="e"),
    kinds.StageVerified(
        stage="spec", attempt=1, passed=True, contract="", contract_digest="", artifact={}, artifact_digest="",
        results=({"passed": True},),
    ),
    kinds.StageVerified(
        stage="red", attempt=1, passed=False, contract="", contract_digest="", artifact={}, artifact_digest="",
        results=({},),
    ),
    kinds.StagePassed(stage="spec", artifact_digest="d"),
    kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="stuck", reason="", question=""),
    kinds.EscalationRaised(escalation_id="E2", stage="", kind="approval", reason="", question=""),
    *(kinds.EscalationResolved(escalation_id=name, decision=word) for name in ("E1", "E2", "E9") for word in DECISIONS),  # type: ignore[arg-type]
    kinds.Delivered(branch="b", commit="c", tree="t"),
    kinds.RunInterrupted(reason="r"),
    kinds.RunFinished(outcome="failed", error={"slug": "s"}),
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(EVENTS), max_size=30))
def test_any_order_of_events_folds(events: list[Event]) -> None:
    state = RunState()
    for event in events:
        state = evolve(state, event, at="2026-01-01T00:00:00Z")
    assert state.progress.active_s == 0
