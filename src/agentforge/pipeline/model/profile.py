"""How a kind of model is led through the stages, as a record: what differs between profiles is a field of it."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a run does with models of one kind.

    Attributes:
        attempts, stage_steps: limits of a stage that hold unless the settings name others; None = those of the settings.
        keeps_ledger: the asks of the request are numbered, and each is placed.
        measures_speed: a request for speed is tried at the base and measured.
        inspects: a change that nothing runs may be verified by inspection.
        adds_tests: the tests are added to where they are too weak.
        joins_replies: one reply may serve several stages.
        is_examined: a second reader of the request may examine what is delivered.
        is_graded: what the model can do on this machine is tried before it is asked for it.
        harness_works: the harness writes the tests from the examples, and carries out what the syntax tree can.
    """

    attempts: int | None = None
    stage_steps: int | None = None
    keeps_ledger: bool = True
    measures_speed: bool = True
    inspects: bool = True
    adds_tests: bool = True
    joins_replies: bool = True
    is_examined: bool = True
    is_graded: bool = False
    harness_works: bool = False


SMALL = "small"
PROFILES = {
    "": Profile(),
    SMALL: Profile(
        attempts=2,  # a small model that has not found it after some rounds will not find it at all
        stage_steps=8,
        keeps_ledger=False,
        measures_speed=False,
        inspects=False,
        adds_tests=False,
        joins_replies=False,
        is_examined=False,
        is_graded=True,
        harness_works=True,
    ),
}


def profile_named(name: str) -> str:
    """Return the profile that a setting or the table of models names; "" where it names none of its own."""
    return name if name in PROFILES else ""


def profile_of(state: RunState) -> Profile:
    """Look up the profile that a run was started with."""
    return PROFILES[state.brief.profile]
