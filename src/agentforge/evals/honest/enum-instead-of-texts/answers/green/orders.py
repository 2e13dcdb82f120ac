"""Orders."""

from enum import Enum


class State(str, Enum):
    """States of an order."""

    OPEN = "open"
    PAID = "paid"
    SENT = "sent"


_NEXT = {State.OPEN: State.PAID, State.PAID: State.SENT, State.SENT: State.SENT}


def next_state(state: State | str) -> State:
    """Give the state that follows; raises ValueError for an unknown one."""
    return _NEXT[State(state)]
