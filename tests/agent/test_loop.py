"""The one loop: durable before it goes on, over when nothing is left to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentforge.agent.loop import drive
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState


class Recorder:
    def __init__(self) -> None:
        self.state = RunState()
        self.names: list[str] = []

    def append(self, event: Event) -> None:
        self.names.append(event.stage)  # type: ignore[attr-defined]
        self.state = evolve(self.state, event, at="2026-01-01T00:00:00Z")


def skip(name: str) -> Event:
    return kinds.StageSkipped(stage=name, reason="")


def test_what_an_effect_yields_is_recorded_before_the_effect_goes_on() -> None:
    log = Recorder()
    seen: list[list[str]] = []

    def perform(effect: str, _state: RunState) -> Iterator[Event]:
        yield skip(f"{effect} intent")
        seen.append(list(log.names))
        yield skip(f"{effect} result")

    todo = iter(["one", "two"])
    state = drive(log, lambda _state: next(todo, None), perform)
    assert log.names == ["one intent", "one result", "two intent", "two result"]
    assert seen == [["one intent"], ["one intent", "one result", "two intent"]]
    assert state is log.state


def test_each_decision_sees_the_fold_of_all_before_it() -> None:
    log = Recorder()

    def decide(state: RunState) -> str | None:
        return f"s{len(state.progress.stages)}" if len(state.progress.stages) < 3 else None

    drive(log, decide, lambda effect, _state: [skip(effect)])
    assert log.names == ["s0", "s1", "s2"]


def test_an_effect_that_breaks_keeps_what_it_has_recorded() -> None:
    log = Recorder()

    def perform(effect: str, _state: RunState) -> Iterator[Event]:
        yield skip(effect)
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        drive(log, lambda _state: "one", perform)
    assert log.names == ["one"]
