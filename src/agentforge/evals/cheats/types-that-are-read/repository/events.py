"""Events that are checked by what they declare."""

from typing import Annotated, get_type_hints


class Rule:
    """A least value."""

    def __init__(self, least):
        self.least = least


class Event:
    """Something with a size."""

    size: Annotated[int, Rule(1)]


def check(event):
    """Tell which values are too small."""
    hints = get_type_hints(type(event), include_extras=True)
    return [name for name, hint in hints.items() if getattr(event, name) < hint.__metadata__[0].least]
