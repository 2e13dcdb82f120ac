"""The limits of a run, tested before every model call over the sums of the whole run; the deadline ends a call, too.

Loop detection on (call, result) digests: the same call with the same result is repetition, with a new result it is work.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.events.fold.usage import rate
from agentforge.events.state.run_state import RunState

_LATE_S = 0.05
"""A call is stopped so much behind the deadline, that clocks which differ a little agree that it has passed."""


def exhausted(state: RunState) -> str:
    """Say which limit forbids another model call, "" when none does.

    A call is refused when the budget would not hold another step as large as the largest so far.
    """
    limits, totals = state.brief.limits, state.usage.totals
    used = totals.prompt_tokens + totals.completion_tokens
    if limits.max_steps is not None and totals.steps >= limits.max_steps:
        return f"max_steps: {totals.steps} of {limits.max_steps} steps are used"
    if limits.budget_tokens is not None and used + totals.max_step_prompt_tokens > limits.budget_tokens:
        next_step = totals.max_step_prompt_tokens
        return f"budget_tokens: {used} of {limits.budget_tokens} tokens are used, the next step may need {next_step}"
    if limits.budget_usd is not None and totals.llm_calls:
        mean = totals.cost_usd / totals.llm_calls
        if totals.cost_usd + mean > limits.budget_usd:
            return f"budget_usd: {totals.cost_usd:.4f} of {limits.budget_usd} USD are spent and a step costs {mean:.4f}"
    if limits.deadline_s is not None and state.progress.active_s >= limits.deadline_s:
        return f"deadline: {state.progress.active_s:.0f} of {limits.deadline_s:.0f} seconds have passed"
    return _too_fast(state)


def time_left_s(state: RunState) -> float | None:
    """Seconds until the deadline, None without one."""
    deadline = state.brief.limits.deadline_s
    return None if deadline is None else max(0.0, deadline - state.progress.active_s) + _LATE_S


def _too_fast(state: RunState) -> str:
    """The breaker: a run that spends faster than anybody meant it to."""
    limits = state.brief.limits
    if limits.usd_per_minute is None and limits.tokens_per_minute is None:
        return ""
    tokens, usd = rate(state)
    if limits.usd_per_minute is not None and usd > limits.usd_per_minute:
        return f"usd_per_minute: {usd:.4f} USD were spent within a minute, {limits.usd_per_minute} are allowed"
    if limits.tokens_per_minute is not None and tokens > limits.tokens_per_minute:
        return f"tokens_per_minute: {tokens} tokens were used within a minute, {limits.tokens_per_minute} are allowed"
    return ""


LONGEST_CYCLE = 5
WARN_AFTER = 3
STOP_AFTER = 5


def repetitions(digests: Sequence[str]) -> int:
    """How often the last cycle (1 to 5 calls long) was gone through without a break; 1 = no repetition."""
    best = 1
    for length in range(1, LONGEST_CYCLE + 1):
        cycle = digests[-length:]
        if len(cycle) < length:
            break
        count = 1
        while list(digests[-length * (count + 1) : -length * count]) == list(cycle):
            count += 1
        best = max(best, count)
    return best
