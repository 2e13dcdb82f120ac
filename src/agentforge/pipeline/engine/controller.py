"""Performing what the pipeline decides. Each effect is one small generator: intent, act, result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, cast

from agentforge.agent import (
    AgentSpec,
    CallModel,
    Effect,
    FinishStep,
    Log,
    RunTool,
    drive,
    perform_call_model,
    perform_finish_step,
    perform_tool,
)
from agentforge.canonical import canonical_bytes
from agentforge.context.sections import Section, row_of, section_of, without_secrets
from agentforge.errors import ModelError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.material import gather
from agentforge.pipeline.delivery.attestation import anchor, attest
from agentforge.pipeline.engine.attempts import adopted
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.engine.joint_replies import reads_for_the_next
from agentforge.pipeline.engine.kept_work import drop_left_tests, kept_draft, put_kept_files
from agentforge.pipeline.engine.questions import asked, exhibit, offered
from agentforge.pipeline.engine.stage_agent import agent_spec
from agentforge.pipeline.engine.stage_hooks import (
    after_stage,
    before_stage,
    material_rows,
    not_run,
    stopped,
    with_notes,
)
from agentforge.pipeline.engine.world import LiveWorld
from agentforge.pipeline.facts.time_limits import within_deadline
from agentforge.pipeline.model.effects import (
    AdoptAttempt,
    Ask,
    Attest,
    AwaitTask,
    Deliver,
    EndReopening,
    Finish,
    GatherFacts,
    Judge,
    MeasureBaseline,
    MeasureImpact,
    MeasurePlaces,
    PassStage,
    Reopen,
    SkipStage,
    StartPart,
    StartStage,
    SubmitDraft,
    SubmitKept,
    TakeCalls,
    TryAttempts,
)
from agentforge.pipeline.model.revisits import is_open
from agentforge.pipeline.model.rollback import go_back
from agentforge.pipeline.model.run_dependencies import event_of, unmet
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.stages import ORDER
from agentforge.safety.text.redaction import redact, redact_value

_By = Literal["model", "harness", "user"]


def run_pipeline(log: Log, runtime: Runtime) -> RunState:
    """Drive a task until it is delivered, ended, or waits for a human.

    Raises:
        AgentForgeError: the harness or the model failed; everything acknowledged is kept and `resume` goes on.
    """
    return drive(log, lambda state: decide(state, runtime.stages), Performer(runtime).perform)


class Performer(LiveWorld):
    """Carries out effects for one run; holds the runtime and the material of the current stage, nothing else."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._material: tuple[str, list[Section]] = ("", [])

    def perform(self, effect: Effect, state: RunState) -> Iterator[Event]:
        """Yield the events of one effect; each is durable before the next line runs.

        Raises:
            KeyError: an effect that nobody performs (a defect of the program).
        """
        performers = cast(
            "dict[type[Effect], Callable[[Effect, RunState], Iterator[Event]]]",
            {
                StartStage: self._start_stage,
                SkipStage: lambda one, _state: iter([kinds.StageSkipped(stage=one.stage, reason=one.reason)]),
                AwaitTask: self._await_task,
                StartPart: lambda one, now: iter([self._runtime.begin_part(one.part, now)]),
                MeasureBaseline: self._baseline,
                MeasureImpact: self._impact,
                MeasurePlaces: self._places,
                TryAttempts: self._attempts,
                AdoptAttempt: self._adopt,
                Reopen: self._reopen,
                EndReopening: self._end_reopening,
                SubmitDraft: self._submit_draft,
                SubmitKept: self._submit_kept,
                TakeCalls: _take_calls,
                GatherFacts: self._gather_facts,
                Judge: self._judge,
                Ask: self._ask,
                PassStage: self._pass_stage,
                Deliver: self._deliver,
                Attest: self._attest,
                Finish: self._finish,
                CallModel: self._call_model,
                RunTool: self._run_tool,
                FinishStep: self._finish_step,
            },
        )
        if not _needs_only_the_request(effect, state):
            self._runtime.ready()
        if EXAMINE in (state.progress.stage, effect.stage if isinstance(effect, StartStage) else ""):
            from agentforge.pipeline.examination.examiner_run import performed

            return performed(effect, state, self._runtime, self)
        return offered(performers[type(effect)](effect, state), state, self._runtime.stages)

    def spec(self, state: RunState) -> AgentSpec:
        """What the agent loop works with in the current stage: model, tools, workspace."""
        return agent_spec(state, self._runtime, self._pieces(state))

    # -- the agent loop inside a stage

    def _call_model(self, effect: CallModel, state: RunState) -> Iterator[Event]:
        events = perform_call_model(effect, state, self.spec(state))
        try:
            yield from events
        except ModelError:
            if not is_open(state):  # what was opened again for more tests is worth no run: the failure is recorded
                raise

    def _run_tool(self, effect: RunTool, state: RunState) -> Iterator[Event]:
        return perform_tool(effect, state, self.spec(state))

    def _finish_step(self, effect: FinishStep, state: RunState) -> Iterator[Event]:
        return perform_finish_step(effect, state, self.spec(state))

    def _pieces(self, state: RunState) -> list[Section]:
        digest = state.progress.turn.material
        if self._material[0] != digest:
            rows = json.loads(self._runtime.blobs.get(digest)) if digest else []
            self._material = (digest, [section_of(row) for row in rows])
        return self._material[1]

    # -- stages

    def _start_stage(self, effect: StartStage, state: RunState) -> Iterator[Event]:
        stage = self._runtime.stages[effect.stage]
        again = effect.attempt > 1 and state.progress.stage == effect.stage and state.progress.turn.material
        digest = state.progress.turn.material if again else ""
        tree = put_kept_files(stage, effect.attempt, state, self._runtime)
        if stage.needs_model(state):
            yield from not_run(effect.stage, effect.attempt, self._runtime)
            said = before_stage(state, self._runtime)
            yield from said.runs if said is not None else ()
            question = stopped("before_agent", effect.stage, state, said, attempt=effect.attempt)
            if question is not None:
                yield question
                return
            rows = material_rows(self._runtime.blobs.get(digest)) if digest else self._gathered(effect.stage, state)
            digest = self._runtime.blobs.put(canonical_bytes(with_notes(rows, said)))
        yield kinds.StageStarted(stage=effect.stage, attempt=effect.attempt, material=digest, tree=tree)

    def _gathered(self, stage: str, state: RunState) -> list[dict[str, object]]:
        return [row_of(without_secrets(one, self._plain)) for one in gather(stage, state, self._runtime)]

    def _plain(self, text: str) -> str:
        return redact(text, secrets=self._runtime.secrets).text

    def _await_task(self, effect: AwaitTask, state: RunState) -> Iterator[Event]:
        need = next(need for need in unmet(state) if need.key == effect.key)
        yield event_of(need, self.look(need, state))

    def _submit_draft(self, effect: SubmitDraft, state: RunState) -> Iterator[Event]:
        stage = self._runtime.stages[effect.stage]
        attempt = state.progress.stages[effect.stage].attempt
        if effect.stage in state.review.ahead:
            draft = state.review.ahead[effect.stage]
            yield _handed_in(effect.stage, draft, state, by="model", attempt=attempt)
            return
        by: _By = "user" if stage.takes_tests and state.brief.tests else "harness"
        yield _handed_in(effect.stage, stage.draft(state), state, by=by, attempt=attempt)

    def _submit_kept(self, effect: SubmitKept, state: RunState) -> Iterator[Event]:
        draft = kept_draft(state, self._runtime.stages[effect.stage])
        yield _handed_in(effect.stage, draft, state, attempt=state.progress.stages[effect.stage].attempt)

    # -- facts and verdicts

    def _baseline(self, effect: MeasureBaseline, state: RunState) -> Iterator[Event]:
        attempt = effect.attempt
        yield self._in_time(
            lambda: self.measured_base(state, attempt=attempt), state, name="baseline", stage="analyze", attempt=attempt
        )

    def _impact(self, _effect: MeasureImpact, state: RunState) -> Iterator[Event]:
        yield self._in_time(lambda: self.measured_impact(state), state, name="impact", stage="green")

    def _places(self, _effect: MeasurePlaces, state: RunState) -> Iterator[Event]:
        yield self._in_time(lambda: self.measured_places(state), state, name="places", stage="analyze")

    def _attempts(self, effect: TryAttempts, state: RunState) -> Iterator[Event]:
        yield from self._runtime.attempts(state, effect.stage)

    def _adopt(self, effect: AdoptAttempt, state: RunState) -> Iterator[Event]:
        """Put the workspace into the state of the chosen attempt first: done twice it is the same."""
        taken = adopted(state, effect.stage)
        self._runtime.guard.put_back(str(taken["tree"]))
        draft = cast("Mapping[str, object]", taken["draft"])
        yield _handed_in(effect.stage, draft, state, attempt=1)

    def _reopen(self, effect: Reopen, state: RunState) -> Iterator[Event]:
        if effect.undone:
            yield from go_back(effect, state, self._runtime)
            return
        findings = cast("tuple[Mapping[str, object], ...]", effect.findings)
        yield kinds.StageReopened(stage=effect.stage, by=effect.by, reason=effect.reason, findings=findings)

    def _end_reopening(self, effect: EndReopening, state: RunState) -> Iterator[Event]:
        """Put the workspace back first: done twice it is the same."""
        assert state.review.reopened is not None
        self._runtime.guard.put_back(state.work.trees[state.review.reopened.by])
        yield kinds.ReopeningEnded(stage=effect.stage, reason=effect.reason)

    def _gather_facts(self, effect: GatherFacts, state: RunState) -> Iterator[Event]:
        from agentforge.pipeline.engine.judgement import contract_of, refuse_draft, with_draft
        from agentforge.pipeline.facts.measurements import draft_errors

        stage = self._runtime.stages[effect.stage]
        contract = contract_of(stage, self._runtime)
        mended = self.mended(state, stage, contract)
        after = with_draft(state, mended.draft, mended.repairs)
        errors = draft_errors(after, stage, contract)
        if errors:
            yield refuse_draft(after, stage, contract, errors)
            return
        drop_left_tests(after, self._runtime)
        measure, name = lambda: mended.told_by(self.measured(after, stage)), effect.stage
        yield self._in_time(measure, state, name=name, stage=name, attempt=state.progress.stages[name].attempt)

    def _in_time(
        self, measure: Callable[[], Measured], state: RunState, *, name: str, stage: str, attempt: int = 1
    ) -> Event:
        """The facts of a measurement, or the question that it ends with when the deadline comes first."""
        started = time.monotonic()
        measured = within_deadline(measure, state, stage=stage, measuring=name)
        if isinstance(measured, kinds.EscalationRaised):
            return measured
        return self._facts(measured, name=name, attempt=attempt, started=started)

    def _facts(self, measured: Measured, *, name: str, attempt: int, started: float) -> kinds.FactsGathered:
        facts, details = (self._scrubbed(value) for value in (measured.facts, measured.evidence))
        evidence = self._runtime.blobs.put(canonical_bytes(details)) if details else None
        return kinds.FactsGathered(
            name=name,
            attempt=attempt,
            facts=facts,
            tree=measured.tree,
            evidence=evidence,
            duration_ms=int((time.monotonic() - started) * 1000),
            work=measured.work,
            draft=measured.draft,
            repairs=measured.repairs,
        )

    def _scrubbed(self, value: Mapping[str, object]) -> Mapping[str, object]:
        """The value without secrets: tests print what they like."""
        return cast("Mapping[str, object]", redact_value(value, secrets=self._runtime.secrets))

    def _judge(self, effect: Judge, state: RunState) -> Iterator[Event]:
        from agentforge.pipeline.engine.judgement import contract_of, judge

        stage = self._runtime.stages[effect.stage]
        contract = contract_of(stage, self._runtime)
        document = self._runtime.blobs.put(canonical_bytes(contract.document))
        verdict = judge(state, stage, contract, commands=self.commands(contract))
        yield replace(verdict, contract_document=document)

    # -- humans, ends

    def _ask(self, effect: Ask, state: RunState) -> Iterator[Event]:
        return asked(effect, state, lambda one: self._plain(exhibit(one, state, self._runtime)))

    def _pass_stage(self, effect: PassStage, state: RunState) -> Iterator[Event]:
        assert state.review.verdict is not None
        said = after_stage(effect.stage, state, self._runtime)
        yield from said.runs if said is not None else ()
        question = stopped(
            "after_agent", effect.stage, state, said, attempt=state.progress.stages[effect.stage].attempt
        )
        if question is not None:
            yield question
            return
        reading = reads_for_the_next(effect.stage, state, self._runtime.stages)
        yield kinds.StagePassed(
            stage=effect.stage, artifact_digest=state.review.verdict.artifact_digest, reading=reading
        )

    def _deliver(self, _effect: Deliver, state: RunState) -> Iterator[Event]:
        made = state.work.facts["deliver"]
        commit, tree = str(made["commit"]), str(made["tree"])
        applied = self.branch(state, commit)
        yield kinds.Delivered(branch=state.identity.branch, commit=commit, tree=tree, applied=applied)

    def _attest(self, _effect: Attest, state: RunState) -> Iterator[Event]:
        yield attest(state, self._runtime)

    def _finish(self, effect: Finish, state: RunState) -> Iterator[Event]:
        error = {"slug": effect.slug, "message": effect.message, "hint": effect.hint} if effect.slug else None
        yield kinds.RunFinished(outcome=effect.outcome, error=error)  # type: ignore[arg-type] # decide uses the closed set
        if state.work.attested:
            anchor(state, self._runtime)


def _handed_in(
    stage: str, draft: Mapping[str, object], state: RunState, *, attempt: int, by: _By = "harness"
) -> kinds.ArtifactSubmitted:
    """A draft that no reply holds is a step of its own."""
    return kinds.ArtifactSubmitted(stage=stage, attempt=attempt, draft=draft, by=by, step=state.progress.turn.step + 1)


def _take_calls(effect: TakeCalls, state: RunState) -> Iterator[Event]:
    calls = tuple(
        {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
        for call in state.review.behind[effect.stage]
    )
    yield kinds.CallsTaken(step=state.progress.turn.step + 1, stage=effect.stage, calls=calls)


def _needs_only_the_request(effect: Effect, state: RunState) -> bool:
    """Whether no worktree need stand: who looks at the code for the first request makes it then."""
    stage = effect.stage if isinstance(effect, StartStage) else state.progress.stage
    begins = isinstance(effect, (StartStage, CallModel)) and stage == ORDER[0]
    return begins or isinstance(effect, (AwaitTask, StartPart))
