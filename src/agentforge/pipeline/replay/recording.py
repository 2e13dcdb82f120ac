"""A run's records in the place of its log, what they answer, and their first difference from what would be recorded now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import encode
from agentforge.frozen import dataclass
from agentforge.messages import ModelReply, ToolCall, Usage
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.stages import ORDER
from agentforge.safety.text.hygiene import unwrap
from agentforge.tools.base import Observation

if TYPE_CHECKING:
    pass


Kind = TypeVar("Kind", bound=Event)
At = tuple[int, str, Event]
"""A record as the replay needs it: its number, its time, its event."""

FROM_OUTSIDE = (
    kinds.RunStarted,
    kinds.RunResumed,
    kinds.RunForked,
    kinds.LogRecovered,
    kinds.EscalationResolved,
    kinds.RunInterrupted,
    kinds.ForkMade,
    kinds.RunMarked,
    kinds.StateSealed,
    kinds.RunShared,
    kinds.NotificationSent,
)
"""What other processes and humans write into the log of a run."""
_MEASURED_ANEW = frozenset({"duration_ms"})
_OF_QUESTIONS = frozenset({"choices", "shown", "following"})
_OF_RESULTS = frozenset({"redaction", "hygiene", "trust", "held"})
_OTHERS = {
    kinds.StageReopened: frozenset({"work"}),
    kinds.ArtifactSubmitted: frozenset({"step"}),
    kinds.StagePassed: frozenset({"reading"}),
}
_ADDED_LATER = {kinds.EscalationRaised: _OF_QUESTIONS, kinds.ToolFinished: _OF_RESULTS, **_OTHERS}
"""Fields that the logs of earlier versions lack."""
_FENCE = re.compile(r"<untrusted (\S+)>\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where the run of today leaves the run of the record.

    Attributes:
        seq: number of the record.
        event: what the record holds there.
        field: of the event; "decision" when something else would be done.
        recorded, now: the two values.
    """

    seq: int
    step: int
    stage: str
    event: str
    field: str
    recorded: object
    now: object


class Diverged(Exception):
    """Ends a replay at the first difference."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.field)
        self.divergence = divergence


class LeftHere(Exception):
    """Ends one effect: the process that wrote the record went no further than this; somebody else went on."""


class Recording:
    """The records of a run in the place of its log: what is appended must be what stands there.

    Attributes:
        state: the fold of what was replayed so far.
        replayed: number of records.
    """

    def __init__(self, records: Sequence[At]) -> None:
        self.state = RunState()
        self.replayed = 0
        self._records = records

    @property
    def ended(self) -> bool:
        """Whether all records were replayed."""
        return self.replayed >= len(self._records)

    def next(self) -> At:
        """The record that comes next."""
        return self._records[self.replayed]

    def ahead(self, kind: type[Kind], fits: Callable[[Kind], bool] = lambda _event: True) -> Kind | None:
        """The next event of a kind, before the process that wrote the record was replaced by another."""
        for _, _, event in self._records[self.replayed :]:
            if isinstance(event, FROM_OUTSIDE):
                return None
            if isinstance(event, kind) and fits(event):
                return event
        return None

    def model_of(self, stage: str) -> str:
        """Name the model that the process which wrote here asked in a stage; one that asked none had it of a stage before."""
        called: dict[str, str] = {}
        for place, (_, _, event) in enumerate(self._records):
            if isinstance(event, FROM_OUTSIDE):
                if place >= self.replayed:
                    break
                called = {}
            elif isinstance(event, kinds.ModelCalled):
                called.setdefault(event.stage, event.model)
        earlier = ORDER[: ORDER.index(stage) + 1] if stage in ORDER else (stage,)
        return next((called[one] for one in reversed(earlier) if one in called), "recorded")

    def rest_of_step(self) -> Iterator[Event]:
        """The events from here to the end of the step."""
        for _, _, event in self._records[self.replayed :]:
            yield event
            if isinstance(event, kinds.StepFinished):
                return

    def take(self) -> None:
        """Fold the next record as it stands."""
        _, at, event = self._records[self.replayed]
        self.state = evolve(self.state, event, at=at)
        self.replayed += 1

    def append(self, event: Event) -> None:
        """Compare what would be recorded now with what was, and fold the record.

        Raises:
            Diverged: they differ.
        """
        seq, _, recorded = self.next()
        self._compare(seq, recorded, event)
        self.take()
        if self.ended or isinstance(self.next()[2], FROM_OUTSIDE):
            raise LeftHere

    def diverged(self, field: str, recorded: object, now: object) -> Diverged:
        """The difference, told with its place."""
        seq, _, event = self.next()
        step = getattr(event, "step", 0) or self.state.progress.turn.step
        stage = getattr(event, "stage", "") or self.state.progress.stage
        name = type(event).__name__
        return Diverged(
            Divergence(seq=seq, step=step, stage=stage, event=name, field=field, recorded=recorded, now=now)
        )

    def _compare(self, seq: int, recorded: Event, event: Event) -> None:
        (was, old), (name, new) = encode(recorded), encode(event)
        if was != name:
            raise self.diverged("decision", was, name)
        for field, value in old.items():
            added = field in _ADDED_LATER.get(type(recorded), ()) and not value
            if field not in _MEASURED_ANEW and new.get(field) != value and not added:
                raise self.diverged(field, value, new.get(field))


def observation_of(finished: kinds.ToolFinished, runtime: Runtime) -> Observation:
    """What the tool found then, before it was cut and fenced."""
    if finished.output:
        text = runtime.blobs.get(finished.output).decode("utf-8", "surrogateescape")
    else:
        text = unwrap(finished.text) if _FENCE.match(finished.text) else finished.text
    return Observation(
        status=finished.status,
        summary=finished.summary,
        text=text,
        error_type=finished.error_type,
        retryable=finished.retryable,
        next_actions=finished.next_actions,
        artifacts=finished.paths,
        changed=tuple(finished.changed),
        view=finished.view,
    )


def reply_of(said: kinds.ModelReplied) -> ModelReply:
    """What the model replied then."""
    counted = {key: int(value) for key, value in said.usage.items() if isinstance(value, int)}
    reported = bool(counted.pop("reported", 1))
    return ModelReply(
        text=said.text,
        tool_calls=tuple(
            ToolCall(call_id=str(call["call_id"]), name=str(call["name"]), arguments=str(call["arguments"]))
            for call in said.tool_calls
        ),
        finish=said.finish,  # type: ignore[arg-type] # one of the reasons, as it was recorded
        usage=Usage(**counted),
        model=said.model,
        thinking=said.thinking,
        requests=said.requests,
        usage_reported=reported,
        sent=said.sent,
        others=said.others,
        kept=tuple(said.kept),
    )


def nonce_of(finished: kinds.ToolFinished | None) -> str:
    """The word that fenced the recorded text; every process has its own."""
    found = _FENCE.match(finished.text) if finished else None
    return found[1] if found else ""


def exit_code_of(row: Mapping[str, object]) -> int:
    """How a contract's command ended then."""
    return value if isinstance(value := row.get("measured"), int) else 1


def printed_of(row: Mapping[str, object], command: str) -> str:
    """What it printed."""
    return str(row.get("message", "")).partition(f"`{command}` ended with {exit_code_of(row)}: ")[2]
