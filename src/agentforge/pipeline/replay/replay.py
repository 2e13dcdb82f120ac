"""The same way through the pipeline once more, with the record in the place of the world: no model, no command, no branch.

`decide` and `perform` are the ones that drove the run. What they decide, send, write and judge is compared with the record,
event by event; the first difference ends the replay.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.errors import ModelError
from agentforge.events import kinds
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.model.effects import Finish
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.replay.performer import ReplayPerformer
from agentforge.pipeline.replay.recording import FROM_OUTSIDE, At, Diverged, Divergence, LeftHere, Recording


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
