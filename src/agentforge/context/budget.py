"""The token budget of a pipeline step, and how results and errors become short."""

from __future__ import annotations

TOKEN_BUDGET = {
    "system_prompt": 1000,
    "task_frame": 500,
    "current_state": 4500,
    "recent_actions": 1000,
    "verification_status": 200,
    "available_actions": 800,
}
"""Tokens per section."""

TOTAL_LIMIT = 8000
"""Tokens of a step where the settings say nothing (`context.step_tokens`); what a larger one has more is current_state's."""

ERROR_LIMIT_CHARS = 500


def counted_limit(total: int) -> int:
    """What our own count may reach. It lies some percent above the common vocabularies on code and prose
    (docs/adr/0003-token-count-by-rule.md), and a little below them on unusual text."""
    return total * 97 // 100


def output_room(*, window: int, output: int) -> int:
    """Tokens of a window that are kept for the answer: what is wanted, at most a third of it."""
    return min(output, window // 3)


def one_line(text: str, *, limit: int = 200) -> str:
    """Summarise a result to a single line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 4]} ..."


def short_error(text: str) -> str:
    """Truncate an error to 500 characters that say how many more there are."""
    return bounded(text, limit=ERROR_LIMIT_CHARS)


def bounded(text: str, *, limit: int) -> str:
    """Keep the first of at most `limit` characters, >= 40, and say how many more there are."""
    if len(text) <= limit:
        return text
    kept = limit - len(f" ... {len(text)} more characters")
    return f"{text[:kept]} ... {len(text) - kept} more characters"
