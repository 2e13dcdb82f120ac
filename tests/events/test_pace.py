"""What a run used within the last minute."""

from __future__ import annotations

from agentforge.events.fold.usage import rate, spent_lately
from tests.support.run_states import run_state


def at(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"


def test_a_minute_is_summed_up_and_what_is_older_goes() -> None:
    known = spent_lately((), at=at(0), tokens=100, usd=0.5)
    known = spent_lately(known, at=at(30), tokens=10, usd=0.25)
    assert rate(run_state(lately=known, last_at=at(31))) == (110, 0.75)
    assert rate(run_state(lately=known, last_at=at(60))) == (10, 0.25)
    assert rate(run_state(lately=known, last_at=at(90))) == (0, 0.0)
    assert len(spent_lately(known, at=at(70), tokens=1, usd=0.0)) == 2


def test_many_replies_in_a_minute_take_bounded_room_and_none_is_lost() -> None:
    known: tuple[tuple[str, int, float], ...] = ()
    for _ in range(1000):
        known = spent_lately(known, at=at(1), tokens=1, usd=0.001)
    assert len(known) <= 200
    tokens, usd = rate(run_state(lately=known, last_at=at(2)))
    assert tokens == 1000 and abs(usd - 1.0) < 1e-9


def test_a_clock_that_was_set_back_makes_nothing_old() -> None:
    known = spent_lately((), at=at(50), tokens=5, usd=0.0)
    assert rate(run_state(lately=known, last_at=at(10))) == (5, 0.0)
