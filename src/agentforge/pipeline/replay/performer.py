"""Performing the effects of a run with the answers of its record; only what writes files in the workspace is carried out.

`decide` and `perform` are the ones that drove the run. What they decide, send, write and judge is compared with the record,
event by event; the first difference ends the replay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from agentforge.agent import AgentSpec, RunTool
from agentforge.cancellation import TimeIsUp
from agentforge.canonical import digest_bytes
from agentforge.contracts.contract import CommandResult, Contract
from agentforge.errors import AgentForgeError, ModelError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.messages import ModelReply, ModelRequest
from agentforge.pipeline.engine.controller import Performer
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.examination.examiner_run import Looks, recorded_looks
from agentforge.pipeline.model.effects import Attest, AwaitTask, Finish, TryAttempts
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.model.stage import Stage
from agentforge.pipeline.plugins.external_agents import along_record
from agentforge.pipeline.repairs.table import Mended, recorded_in
from agentforge.pipeline.replay.recording import (
    FROM_OUTSIDE,
    At,
    Diverged,
    Divergence,
    Kind,
    LeftHere,
    Recording,
    exit_code_of,
    nonce_of,
    observation_of,
    printed_of,
    reply_of,
)
from agentforge.tools.base import Observation, Tool, ToolContext
from agentforge.workspace.files.file_access import write_bytes
from agentforge.workspace.git.objects import has_object


class ReplayedRecords(Protocol):
    """What the model needs of a record that is replayed."""

    @property
    def ended(self) -> bool:
        """Whether all records were replayed."""

    def next(self) -> tuple[int, str, Any]:
        """The record that comes next."""

    def ahead(self, kind: type[kinds.ModelReplied]) -> kinds.ModelReplied | None:
        """The next reply."""

    def diverged(self, field: str, recorded: object, now: object) -> Exception:
        """The difference, told with its place."""


class AnsweringModel:
    """ReplayedRecords what was answered then.

    Attributes:
        name: of the model that the record names for the stage.
    """

    def __init__(self, log: ReplayedRecords, name: str) -> None:
        self._log, self.name = log, name

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Give the recorded reply, or fail as the model failed then."""
        del request, on_delta
        failed = None if self._log.ended else self._log.next()[2]
        if isinstance(failed, kinds.ModelFailed):
            error = ModelError(failed.message, requests=failed.requests)
            error.slug = failed.slug
            raise error
        said = self._log.ahead(kinds.ModelReplied)
        if said is None:
            raise self._log.diverged("decision", type(self._log.next()[2]).__name__, "a reply is waited for")
        return reply_of(said)

    def close(self) -> None:
        """Nothing is open."""


_OF_ATTEMPTS = (kinds.AttemptsStarted, kinds.AttemptFinished, kinds.AttemptChosen)
_ANSWERED = ("read", "execute", "network")


class ReplayPerformer(Performer):
    """Performs effects with the answers of the record; only what writes files in the workspace is carried out."""

    def __init__(self, runtime: Runtime, log: Recording) -> None:
        begin_part = lambda _part, _state: self._recorded(kinds.PartStarted)  # noqa: E731 # the task of the record
        models = lambda stage: AnsweringModel(log, log.model_of(stage))  # noqa: E731
        super().__init__(replace(along_record(runtime, log), models=models, begin_part=begin_part))
        self._log, self._index = log, 0

    def _run_tool(self, effect: RunTool, state: RunState) -> Iterator[Event]:
        self._index = effect.index
        return super()._run_tool(effect, state)

    def spec(self, state: RunState) -> AgentSpec:
        """The stage's own values; calls that would look at the world or run something are answered from the record."""
        absent = self._log.next()[2]
        if isinstance(absent, kinds.Examined):
            raise AgentForgeError(absent.reason)  # the examiner's model could not be opened then
        spec = super().spec(state)
        finished = self._log.ahead(kinds.ToolFinished, lambda event: event.index == self._index)
        called = self._log.ahead(kinds.ModelCalled)
        return replace(
            spec,
            model_name=called.model if called else spec.model_name,
            tools={name: self._answered(tool, finished) for name, tool in spec.tools.items()},
            policy=replace(spec.policy, nonce=nonce_of(finished) or spec.policy.nonce),
            price=lambda _reply: self._recorded(kinds.ModelReplied).cost_usd,
        )

    def measured_base(self, state: RunState, *, attempt: int) -> Measured:
        """The facts of the record."""
        del state, attempt
        return self._facts_of_record()

    def measured_impact(self, state: RunState) -> Measured:
        """The facts of the record."""
        del state
        return self._facts_of_record()

    def measured_places(self, state: RunState) -> Measured:
        """The facts of the record."""
        del state
        return self._facts_of_record()

    def measured(self, state: RunState, stage: Stage) -> Measured:
        """The facts of the record; files that the measurement put into the workspace are put there."""
        measured = self._facts_of_record()
        by_harness = state.review.submission is not None and state.review.submission.by != "model"
        if (
            by_harness
            and stage.writes != "none"
            and (state.brief.tests or profile_of(state).harness_works)
            and measured.tree
        ):
            self._runtime.guard.put_back(measured.tree)
        return measured

    def looked_at(self, state: RunState, source: str) -> Looks:
        """What the tests gave then."""
        del state, source
        return recorded_looks(self._recorded(kinds.Examined))

    def mended(self, state: RunState, stage: Stage, contract: Contract) -> Mended:
        """The repairs of the record."""
        del stage, contract
        return recorded_in(self._log.next()[2], state)

    def commands(self, contract: Contract) -> Sequence[CommandResult]:
        """How the contract's commands ended then."""
        rows = {str(row.get("rule")): row for row in self._recorded(kinds.StageVerified).results}
        return [
            CommandResult(command=command, exit_code=exit_code_of(row), output=printed_of(row, command))
            for command in contract.commands
            if (row := rows.get(f"command: {command}")) is not None
        ]

    def branch(self, state: RunState, commit: str) -> bool:
        """Make no branch."""
        del state, commit
        return self._recorded(kinds.Delivered).applied

    def _attempts(self, _effect: TryAttempts, _state: RunState) -> Iterator[Event]:
        """Make none: how they ended stands in the record."""
        while not self._log.ended and isinstance(self._log.next()[2], _OF_ATTEMPTS):
            yield self._log.next()[2]

    def _attest(self, _effect: Attest, _state: RunState) -> Iterator[Event]:
        """Sign nothing: the signature of the record stands."""
        yield self._recorded(kinds.Attested)

    def _await_task(self, _effect: AwaitTask, _state: RunState) -> Iterator[Event]:
        yield self._log.next()[2]  # what other runs were like then

    def _facts_of_record(self) -> Measured:
        ahead = self._log.next()[2]
        if isinstance(ahead, kinds.EscalationRaised) and ahead.context.get("measuring"):
            raise TimeIsUp  # the deadline ended this measurement then
        recorded = self._recorded(kinds.FactsGathered)
        evidence = json.loads(self._runtime.blobs.get(recorded.evidence)) if recorded.evidence else {}
        return Measured(facts=dict(recorded.facts), evidence=evidence, tree=recorded.tree, work=recorded.work)

    def _answered(self, tool: Tool, finished: kinds.ToolFinished | None) -> Tool:
        if tool.effect not in _ANSWERED:
            return tool

        def answer(_arguments: Mapping[str, object], _context: ToolContext) -> Observation:
            if finished is None or finished.name != tool.name:
                raise self._log.diverged("decision", type(self._log.next()[2]).__name__, f"{tool.name} is run")
            for path, digest in finished.changed.items():
                self._write(path, str(digest))
            return replace(observation_of(finished, self._runtime), payload=self._asked(finished))

        return replace(tool, run=answer)

    def _asked(self, finished: kinds.ToolFinished) -> dict[str, object] | None:
        """The question that the call put to a human then."""
        place = (finished.step, finished.index)
        raised = self._log.ahead(
            kinds.EscalationRaised, lambda event: (event.context.get("step"), event.context.get("call")) == place
        )
        if raised is None:
            return None
        about = {"about": raised.context["about"]} if "about" in raised.context else {}
        return {"question": raised.question, "options": list(raised.options), **about}

    def _write(self, path: str, digest: str) -> None:
        """Make a file what a command made of it: as the next call found it, or as it stood at the end of the step."""
        file = self._runtime.worktree / path
        if not digest:
            file.unlink(missing_ok=True)
            return
        found = next((data for data in self._afterwards(path) if digest_bytes(data) == digest), None)
        if found is not None:  # else the comparison with the record tells that it is not there
            file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(file, found)

    def _afterwards(self, path: str) -> Iterator[bytes]:
        """What the record holds of a file at the later places of the step."""
        for event in self._log.rest_of_step():
            blob = event.touches.get(path) if isinstance(event, kinds.ToolStarted) else None
            if blob and not str(blob).startswith("withheld:"):
                yield self._runtime.blobs.get(str(blob))
            tree = event.tree if isinstance(event, (kinds.ToolStarted, kinds.StepFinished)) else None
            kept = tree and has_object(self._runtime.git, tree)
            content = self._runtime.git.show(tree, path) if tree and kept else None
            if content is not None:
                yield content

    def _recorded(self, kind: type[Kind]) -> Kind:
        found = self._log.ahead(kind)
        if found is None:
            raise self._log.diverged("decision", type(self._log.next()[2]).__name__, kind.__name__)
        return found


def replay(records: Sequence[At], runtime: Runtime) -> tuple[int, Divergence | None]:
    """Drive a run along its record.

    Args:
        runtime: with a workspace of its own at the run's base commit; nothing of it is run but git on that workspace.
    Returns:
        How many records were replayed, and the first difference.
    """
    log = Recording(records)
    performer = ReplayPerformer(runtime, log)
    try:
        while not log.ended:
            if _from_outside(log, runtime):
                log.take()
            else:
                _one_effect(log, runtime, performer)
    except Diverged as found:
        return log.replayed, found.divergence
    return log.replayed, None


def _one_effect(log: Recording, runtime: Runtime, performer: ReplayPerformer) -> None:
    effect = decide(log.state, runtime.stages)
    if effect is None:
        raise log.diverged("decision", type(log.next()[2]).__name__, "nothing more")
    try:
        for event in performer.perform(effect, log.state):
            log.append(event)
    except (LeftHere, ModelError):  # a failure of the model ended what the process did, and stands in the record
        return


def _from_outside(log: Recording, runtime: Runtime) -> bool:
    """Whether the next record was not decided by the pipeline: humans, other processes, the end by `abort`."""
    event = log.next()[2]
    if isinstance(event, kinds.RunFinished) and event.outcome == "aborted":
        return not isinstance(decide(log.state, runtime.stages), Finish)
    return isinstance(event, FROM_OUTSIDE)
