"""From draft and facts to a verdict: complete the artifact, apply the contract, tell every failure. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentforge.canonical import digest_value
from agentforge.contracts.check import check
from agentforge.contracts.contract import CommandResult, Contract
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, Stage
from agentforge.pipeline.plugins.added_stage import contract_of as added_contract
from agentforge.workspace.sandbox.box import Box

_TIMEOUT_S = 600.0


def command_results(contract: Contract, runtime: Runtime) -> list[CommandResult]:
    """Run every command that the contract names; a read-only workspace, no network."""
    results = []
    for command in contract.commands:
        box = Box(workspace=runtime.worktree, mount_at=runtime.repo, writable=False)
        done = runtime.sandbox.run(["bash", "-c", command], box=box, timeout_s=_TIMEOUT_S)
        results.append(CommandResult(command=command, exit_code=done.exit_code, output=done.text))
    return results


def contract_of(stage: Stage, runtime: Runtime) -> Contract:
    """The contract that judges a stage."""
    return added_contract(stage, runtime.contracts) if stage.after else runtime.contracts.get(stage.produces)


def judge(
    state: RunState, stage: Stage, contract: Contract, *, commands: Sequence[CommandResult] = ()
) -> kinds.StageVerified:
    """Judge the submitted draft by the recorded facts.

    Args:
        commands: results of the contract's command rules.
    """
    submission = state.review.submission
    assert submission is not None
    facts = submission.facts or {}
    artifact = stage.complete(state, submission.draft, facts)
    verdict = check(contract, artifact, facts=facts, inputs=state.work.artifacts, command_results=commands)
    return kinds.StageVerified(
        stage=stage.name,
        attempt=state.progress.stages[stage.name].attempt,
        passed=verdict.passed,
        contract=contract.name,
        contract_digest=contract.digest,
        artifact=artifact,
        artifact_digest=digest_value(artifact),
        results=tuple(item.value() for item in verdict.results),
        repairs=submission.repairs,
    )


def with_draft(state: RunState, draft: Json, repairs: Sequence[Json]) -> RunState:
    """The state as it is with the submitted draft repaired."""
    assert state.review.submission is not None
    return replace(
        state,
        review=replace(state.review, submission=replace(state.review.submission, draft=draft, repairs=tuple(repairs))),
    )


def refuse_draft(state: RunState, stage: Stage, contract: Contract, errors: Sequence[Json]) -> kinds.StageVerified:
    """The verdict over a draft that does not even have the right shape; nothing was measured."""
    draft = state.review.submission.draft if state.review.submission else {}
    return kinds.StageVerified(
        stage=stage.name,
        attempt=state.progress.stages[stage.name].attempt,
        passed=False,
        contract=contract.name,
        contract_digest=contract.digest,
        artifact=draft,
        artifact_digest=digest_value(draft),
        results=tuple(errors),
        repairs=state.review.submission.repairs if state.review.submission else (),
    )
