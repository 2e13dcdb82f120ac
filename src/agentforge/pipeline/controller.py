"""Performing what the pipeline decides. Each effect is one small generator: intent, act, result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from agentforge.agent import perform as agent_perform
from agentforge.agent.drive import Log, drive
from agentforge.agent.effects import CallModel, Effect, FinishStep, RunTool
from agentforge.canonical import canonical_bytes
from agentforge.context.budget import Piece
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state import RunState
from agentforge.pipeline.decide import decide
from agentforge.pipeline.effects import (
    Ask,
    Deliver,
    Finish,
    GatherFacts,
    Judge,
    MeasureBaseline,
    PassStage,
    SkipStage,
    StartStage,
    SubmitDraft,
)
from agentforge.pipeline.hooking import after_stage, before_stage, material_rows, not_run, stopped, with_notes
from agentforge.pipeline.material import gather
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.stage_agent import agent_spec
from agentforge.pipeline.stages import ORDER
from agentforge.safety.redaction import redact, redact_value

if TYPE_CHECKING:
    from agentforge.pipeline.measure import Measured


def run_pipeline(log: Log, runtime: Runtime) -> RunState:
    """Drive a task until it is delivered, ended, or waits for a human.

    Raises:
        AgentForgeError: the harness or the model failed; everything acknowledged is kept and `resume` goes on.
    """
    return drive(log, lambda state: decide(state, runtime.stages), Performer(runtime).perform)


class Performer:
    """Carries out effects for one run; holds the runtime and the material of the current stage, nothing else."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._material: tuple[str, list[Piece]] = ("", [])

    def perform(self, effect: Effect, state: RunState) -> Iterator[Event]:
        """Yield the events of one effect; each is durable before the next line runs.

        Raises:
            KeyError: an effect that nobody performs (a defect of the program).
        """
        performers = cast(
            "dict[type[Effect], Callable[[Effect, RunState], Iterator[Event]]]",
            {
                StartStage: self._start_stage,
                SkipStage: self._skip_stage,
                MeasureBaseline: self._baseline,
                SubmitDraft: self._submit_draft,
                GatherFacts: self._gather_facts,
                Judge: self._judge,
                Ask: self._ask,
                PassStage: self._pass_stage,
                Deliver: self._deliver,
                Finish: self._finish,
                CallModel: self._call_model,
                RunTool: self._run_tool,
                FinishStep: self._finish_step,
            },
        )
        if not _needs_only_the_request(effect, state):
            self._runtime.ready()
        return performers[type(effect)](effect, state)

    # -- the agent loop inside a stage

    def _call_model(self, effect: CallModel, state: RunState) -> Iterator[Event]:
        return agent_perform.perform_call_model(effect, state, agent_spec(state, self._runtime, self._pieces(state)))

    def _run_tool(self, effect: RunTool, state: RunState) -> Iterator[Event]:
        return agent_perform.perform_tool(effect, state, agent_spec(state, self._runtime, self._pieces(state)))

    def _finish_step(self, effect: FinishStep, state: RunState) -> Iterator[Event]:
        return agent_perform.perform_finish_step(effect, state, agent_spec(state, self._runtime, self._pieces(state)))

    def _pieces(self, state: RunState) -> list[Piece]:
        digest = state.turn.material
        if self._material[0] != digest:
            rows = json.loads(self._runtime.blobs.get(digest)) if digest else []
            self._material = (digest, [Piece(**row) for row in rows])
        return self._material[1]

    # -- stages

    def _start_stage(self, effect: StartStage, state: RunState) -> Iterator[Event]:
        stage = self._runtime.stages[effect.stage]
        again = effect.attempt > 1 and state.stage == effect.stage and state.turn.material
        digest = state.turn.material if again else ""
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
        yield kinds.StageStarted(stage=effect.stage, attempt=effect.attempt, material=digest)

    def _gathered(self, stage: str, state: RunState) -> list[dict[str, object]]:
        return [
            {"name": piece.name, "text": self._plain(piece.text), "limit": piece.limit, "note": piece.note}
            for piece in gather(stage, state, self._runtime)
        ]

    def _plain(self, text: str) -> str:
        return redact(text, secrets=self._runtime.secrets).text

    def _skip_stage(self, effect: SkipStage, _state: RunState) -> Iterator[Event]:
        yield kinds.StageSkipped(stage=effect.stage, reason=effect.reason)

    def _submit_draft(self, effect: SubmitDraft, state: RunState) -> Iterator[Event]:
        stage = self._runtime.stages[effect.stage]
        by = "user" if effect.stage == "red" and state.tests else "harness"
        attempt = state.stages[effect.stage].attempt
        yield kinds.ArtifactSubmitted(stage=effect.stage, attempt=attempt, draft=stage.draft(state), by=by)  # type: ignore[arg-type] # one of the three

    # -- facts and verdicts

    def _baseline(self, effect: MeasureBaseline, state: RunState) -> Iterator[Event]:
        from agentforge.pipeline.measure import measure_base

        started = time.monotonic()
        measured = measure_base(state, self._runtime, attempt=effect.attempt)
        yield self._facts(measured, name="baseline", attempt=effect.attempt, started=started)

    def _gather_facts(self, effect: GatherFacts, state: RunState) -> Iterator[Event]:
        from agentforge.pipeline.judging import refuse_draft
        from agentforge.pipeline.measure import draft_errors, measure

        stage = self._runtime.stages[effect.stage]
        contract = self._runtime.contracts.get(stage.produces)
        errors = draft_errors(state, stage, contract)
        if errors:
            yield refuse_draft(state, stage, contract, errors)
            return
        started = time.monotonic()
        attempt = state.stages[effect.stage].attempt
        yield self._facts(measure(state, stage, self._runtime), name=effect.stage, attempt=attempt, started=started)

    def _facts(self, measured: Measured, *, name: str, attempt: int, started: float) -> kinds.FactsGathered:
        secrets = self._runtime.secrets
        facts, details = (redact_value(one, secrets=secrets) for one in (measured.facts, measured.evidence))
        evidence = self._runtime.blobs.put(canonical_bytes(details)) if details else None
        return kinds.FactsGathered(
            name=name,
            attempt=attempt,
            facts=cast("kinds.Json", facts),
            tree=measured.tree,
            evidence=evidence,
            duration_ms=int((time.monotonic() - started) * 1000),
        )

    def _judge(self, effect: Judge, state: RunState) -> Iterator[Event]:
        from agentforge.pipeline.judging import judge
        from agentforge.pipeline.rules import command_results

        stage = self._runtime.stages[effect.stage]
        contract = self._runtime.contracts.get(stage.produces)
        yield judge(state, stage, contract, commands=command_results(contract, self._runtime))

    # -- humans, ends

    def _ask(self, effect: Ask, state: RunState) -> Iterator[Event]:
        yield kinds.EscalationRaised(
            escalation_id=f"E{len(state.escalations) + 1}",
            stage=effect.stage,
            kind=effect.kind,  # type: ignore[arg-type] # decide uses the closed set
            reason=effect.reason,
            question=effect.question,
            options=effect.options,
            context=dict(effect.context),
        )

    def _pass_stage(self, effect: PassStage, state: RunState) -> Iterator[Event]:
        assert state.verdict is not None
        said = after_stage(effect.stage, state, self._runtime)
        yield from said.runs if said is not None else ()
        question = stopped("after_agent", effect.stage, state, said, attempt=state.stages[effect.stage].attempt)
        if question is not None:
            yield question
            return
        yield kinds.StagePassed(stage=effect.stage, artifact_digest=state.verdict.artifact_digest)

    def _deliver(self, _effect: Deliver, state: RunState) -> Iterator[Event]:
        from agentforge.pipeline.delivery import make_branch

        made = state.facts["deliver"]
        commit, tree = str(made["commit"]), str(made["tree"])
        applied = make_branch(state, self._runtime, commit=commit)
        yield kinds.Delivered(branch=state.branch, commit=commit, tree=tree, applied=applied)

    def _finish(self, effect: Finish, _state: RunState) -> Iterator[Event]:
        error = {"slug": effect.slug, "message": effect.message, "hint": effect.hint} if effect.slug else None
        yield kinds.RunFinished(outcome=effect.outcome, error=error)  # type: ignore[arg-type] # decide uses the closed set


def _needs_only_the_request(effect: Effect, state: RunState) -> bool:
    """INTAKE asks the model before there is a worktree: making one is not part of the time to the first request."""
    stage = effect.stage if isinstance(effect, StartStage) else state.stage
    return isinstance(effect, (StartStage, CallModel)) and stage == ORDER[0]
