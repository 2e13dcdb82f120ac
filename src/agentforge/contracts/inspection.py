"""When a specification asks for no test, and when a measurement has to show instead that nothing runs otherwise. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

GUARDING = ("refactor", "delete", "analyze")
"""Actions whose tests may all pass before."""


def by_inspection_alone(specification: Mapping[str, object]) -> bool:
    """Whether there are requirements to meet, and every one of them is verified by inspection."""
    met = [item for item in _records(specification.get("requirements")) if item.get("priority") != "wont"]
    return bool(met) and all(item.get("verification_method") == "inspection" for item in met)


def needs_inertness(specification: Mapping[str, object], *, kinds: Sequence[str], action: str) -> bool:
    """Whether nothing but a measured inertness can show that the change is what was asked for.

    Args:
        kinds: of the suite's tests, target or guard.
    """
    guarded = action in GUARDING and bool(kinds)
    return by_inspection_alone(specification) and "target" not in kinds and not guarded


def _records(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
