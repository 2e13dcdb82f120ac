"""Orders."""

_NEXT = {"open": "paid", "paid": "sent", "sent": "sent"}


def next_state(state: str) -> str:
    """Give the state that follows."""
    return _NEXT[state]
