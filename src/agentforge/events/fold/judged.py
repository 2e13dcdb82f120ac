"""Under which name a run measured the tree that it delivers: the last stage of its workflow that executes everything. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

_NAMES = ("verify", "refactor", "green")

Held = TypeVar("Held")


def judged_name(held: Mapping[str, object]) -> str:
    """The name under which the delivered tree stands among facts, trees or evidence; `green` when none does."""
    return next((name for name in _NAMES if held.get(name)), _NAMES[-1])


def judged(held: Mapping[str, Held], default: Held) -> Held:
    """What stands there under that name."""
    return held.get(judged_name(held)) or default
