"""What the pipeline does next, from the state alone. Pure: time, files and models are nowhere in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.agent import Effect, Stop, decide_turn
from agentforge.events.kinds.choices import fixed
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.engine.attempts import adoption, attempts_first
from agentforge.pipeline.engine.disputes import CHECKS, check_choices, unmet_question
from agentforge.pipeline.engine.joint_replies import calls_waiting
from agentforge.pipeline.engine.kept_work import kept_submission
from agentforge.pipeline.model.effects import (
    Ask,
    Attest,
    Deliver,
    Finish,
    GatherFacts,
    Judge,
    PassStage,
    SkipStage,
    StartStage,
    SubmitDraft,
)
from agentforge.pipeline.model.revisits import attempts_allowed, ending
from agentforge.pipeline.model.rollback import going_back, sending_back
from agentforge.pipeline.model.run_dependencies import await_next, unmet
from agentforge.pipeline.model.stage import Stage, StageQuestion, action_of, items
from agentforge.pipeline.stages import SPLIT
from agentforge.pipeline.workflows.split.parts import next_part

Stages = Mapping[str, Stage]


def decide(state: RunState, stages: Stages) -> Effect | None:
    """Return the next effect of the run; None when it is over or waits for a human."""
    if state.progress.outcome:
        return None
    if any(item.resolution and item.resolution.decision == "abort" for item in state.people.escalations.values()):
        return Finish(outcome="aborted", slug="aborted", message="a human aborted the run")
    if state.people.open_escalations:
        return None
    back = going_back(state, tuple(stages))
    if back is not None:
        return back
    if not state.progress.stage:
        return _between_stages(state, stages)
    if state.progress.stage == EXAMINE:
        from agentforge.pipeline.examination.examiner import examining  # of the few runs that are examined

        return examining(state)
    return _inside_stage(state, stages[state.progress.stage], stages)


def _between_stages(state: RunState, stages: Stages) -> Effect | None:
    if unmet(state):
        return await_next(state)
    for stage in stages.values():
        known = state.progress.stages.get(stage.name)
        if known is not None and known.status in ("verified", "skipped"):
            continue
        action = action_of(state)
        if action and action not in stage.actions:
            return SkipStage(stage=stage.name, reason=f"not needed for action {action}")
        attempting = attempts_first(state, stage.name)
        if attempting is not None:
            return attempting
        for first in stage.begins_with:
            effect = first(state, tuple(stages))
            if effect is not None:
                return effect
        return StartStage(stage=stage.name, attempt=(known.attempt if known else 0) + 1)
    ended = _ENDS.get(state.brief.workflow, _delivery)
    return ended(state)


def _plan_ended(state: RunState) -> Effect:
    return next_part(state) or Finish(outcome="analyzed")


def _delivery(state: RunState) -> Effect:
    if "deliver" not in state.work.artifacts:
        return Finish(outcome="analyzed")
    if not state.work.delivered:
        return Deliver()
    return Finish(outcome="delivered") if state.work.attested else Attest()


_ENDS = {SPLIT: _plan_ended}
"""What follows when all stages of a workflow are done; of every other one it is the delivery."""


def _inside_stage(state: RunState, stage: Stage, stages: Stages) -> Effect:
    if state.progress.turn.replied:  # finish the step first: its calls were asked for before anything was judged
        return _turn(state)
    if state.progress.stages[stage.name].status == "failed":
        own = None if _was_rejected(state) else sending_back(state, stages)  # a human's words are for this stage
        return own or _after_failure(state, stage)
    if state.review.verdict is not None and state.review.verdict.passed:
        return stage.on_passed(state) or _approval(state, stage) or PassStage(stage=stage.name)
    if state.review.submission is not None:
        return _judge(state, stage)
    if stage.name in state.review.ahead or not stage.needs_model(state):
        return SubmitDraft(stage=stage.name)
    begun = adoption(state, stage.name) or kept_submission(state, stage) or calls_waiting(state, stage.name)
    return begun or _turn(state)


def _was_rejected(state: RunState) -> bool:
    return any(item.get("rule") == "human" for item in state.review.findings)


def _after_failure(state: RunState, stage: Stage) -> Effect:
    """Another attempt while there are some left; what a human rejected is always done again, elsewhere if the stage says so."""
    rejected = _was_rejected(state)
    if rejected and stage.rejected_to:
        return StartStage(stage=stage.rejected_to, attempt=state.progress.stages[stage.rejected_to].attempt + 1)
    left = ending(state)
    if left is not None:
        return left
    by_model = stage.needs_model(state)
    attempt = state.progress.stages[stage.name].attempt
    if attempt >= attempts_allowed(state, stage.name, by_model=by_model) and not (rejected and by_model):
        return _stuck(state, stage)
    return StartStage(stage=stage.name, attempt=attempt + 1)


def _judge(state: RunState, stage: Stage) -> Effect:
    assert state.review.submission is not None
    if state.review.submission.facts is None:
        return GatherFacts(stage=stage.name)
    wanted = [one for one in stage.questions(state) if _asked(state, stage.name, one.key) is None]
    if not wanted:
        return Judge(stage=stage.name)
    first, *others = (_question(one, stage) for one in wanted)
    return replace(first, also=tuple(others))


def _question(question: StageQuestion, stage: Stage) -> Ask:
    """What a stage asks; all that it asks comes together."""
    then = f"AgentForge continues {stage.name} with this answer."
    return Ask(
        stage=stage.name,
        kind="question",
        reason=question.reason,
        question=question.text,
        options=question.options,
        context=(("key", question.key), *question.context),
        choices=question.choices or (tuple(fixed(text, then) for text in question.options) if question.closed else ()),
    )


def _turn(state: RunState) -> Effect:
    effect = decide_turn(state)
    left = ending(state, effect)
    if left is not None:
        return left
    if isinstance(effect, Stop):
        context: tuple[tuple[str, object], ...] = (
            (("step", state.progress.turn.step),) if effect.kind == "approval" else ()
        )
        return Ask(
            stage=state.progress.stage,
            kind=effect.kind,
            reason=effect.reason,
            question=effect.question,
            context=context,
        )
    return effect


def _approval(state: RunState, stage: Stage) -> Effect | None:
    """Ask for the approval of a verified artifact where the mode or `--approve` wants it; of an attempt, its parent asks."""
    wanted = stage.name in state.brief.approve or state.brief.mode in ("supervised", "interactive")
    verdict = state.review.verdict
    if not wanted or verdict is None or state.identity.candidate:
        return None
    asked = _asked(state, stage.name, f"approve:{verdict.artifact_digest}")
    told = asked.resolution if asked is not None else None
    if told is not None and told.decision in ("approve", "answer") and not told.reopen:
        return None
    return Ask(
        stage=stage.name,
        kind="approval",
        reason=f"the stage {stage.name} is verified and waits for your approval",
        question=f"Is the result of {stage.name} what you want?",
        options=("approve", "reject"),
        context=(("key", f"approve:{verdict.artifact_digest}"), ("artifact_digest", verdict.artifact_digest)),
    )


def _stuck(state: RunState, stage: Stage) -> Effect:
    wanted = stage.on_stuck(state)
    if wanted is not None:
        return wanted
    findings = "\n".join(f"- {item.get('message', '')}" for item in state.review.findings[:8])
    attempt = state.progress.stages[stage.name].attempt
    told, context, rulings = unmet_question(state, stage.name)
    calls, without = check_choices(state.work.facts.get(stage.name, {}))
    if calls:
        context = {**context, CHECKS: list(calls)}
    return Ask(
        stage=stage.name,
        kind="stuck",
        reason=f"stage {stage.name} failed verification {attempt} times",
        question="\n".join(filter(None, (told, f"What should happen next? The last findings:\n{findings}"))),
        context=(("attempt", attempt), *_held_out(state), *context.items()),
        choices=(*rulings, *without),
    )


def _held_out(state: RunState) -> tuple[tuple[str, object], ...]:
    """For the human alone: the examples behind a refusal that no stage may see. An answer that names one drops it."""
    if not any(item.get("rule") == "held-out" for item in state.review.findings):
        return ()
    split = state.work.facts.get("spec", {}).get("claims")
    rows = items(split.get("rows")) if isinstance(split, Mapping) else []
    hidden = {row.get("number") for row in rows if row.get("hidden")}
    examples = items(state.work.artifacts.get("spec", {}).get("examples"))
    return (("held_out", [dict(item) for number, item in enumerate(examples) if number in hidden]),)


def _asked(state: RunState, stage: str, key: str) -> Escalation | None:
    found = [
        item for item in state.people.escalations.values() if item.stage == stage and item.context.get("key") == key
    ]
    return found[-1] if found else None
