"""Proves that the best of several attempts is chosen by what was measured alone."""

from __future__ import annotations

from agentforge.events.kinds.candidates import best_of


def row(number: int, *, passed: bool = True, score: float | None = 1.0, lines: int = 10) -> dict[str, object]:
    return {"number": number, "child": f"a{number}", "passed": passed, "score": score, "lines": lines}


def test_what_passes_beats_what_does_not_then_the_score_then_the_size_then_the_order() -> None:
    best, reason = best_of((row(1, passed=False), row(2)))
    assert best is not None and best["number"] == 2 and "only one" in reason
    best, reason = best_of((row(1, score=0.8, lines=2), row(2, score=0.9, lines=40)))
    assert best is not None and best["number"] == 2 and "0.90 against 0.80" in reason
    best, reason = best_of((row(1, lines=12), row(2, lines=5)))
    assert best is not None and best["number"] == 2 and "5 changed lines against 12" in reason
    best, reason = best_of((row(1), row(2)))
    assert best is not None and best["number"] == 1 and "earliest" in reason


def test_none_is_chosen_where_none_passes() -> None:
    assert best_of((row(1, passed=False), row(2, passed=False)))[0] is None
    assert best_of(())[0] is None
