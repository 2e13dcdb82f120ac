"""When a specification asks for no test, and when a measurement has to show instead that nothing runs otherwise. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

GUARDING = ("refactor", "delete", "analyze")
"""Actions whose tests may all pass before."""


def by_inspection_alone(specification: Mapping[str, object]) -> bool:
    """Whether there are requirements to meet, and every one of them is verified by inspection."""
    met = [item for item in _records(specification.get("requirements")) if item.get("priority") != "wont"]
    return bool(met) and all(item.get("verification_method") == "inspection" for item in met)


def is_for_speed(intake: Mapping[str, object]) -> bool:
    """Whether the record of INTAKE reads the request as one for less time."""
    intent = intake.get("extracted_intent")
    return isinstance(intent, Mapping) and intent.get("performance") is True


def measured_rows(specification: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The measurements of a specification: {requirement, setup, statement, ratio, at_most_ms}."""
    return [one for one in _records(specification.get("measurements")) if one.get("statement")]


def guards_suffice(specification: Mapping[str, object], intake: Mapping[str, object]) -> bool:
    """Whether the tests may all pass before: behaviour is to stay, or a measurement is what fails before."""
    intent = intake.get("extracted_intent")
    action = intent.get("action") if isinstance(intent, Mapping) else ""
    return action in GUARDING or by_measurement_alone(specification, intake)


def by_measurement_alone(specification: Mapping[str, object], intake: Mapping[str, object]) -> bool:
    """Whether the request is for speed, and every requirement is measured, or verified by inspection."""
    measured = {one.get("requirement") for one in measured_rows(specification)}
    met = [item for item in _records(specification.get("requirements")) if item.get("priority") != "wont"]
    shown = all(item.get("verification_method") == "inspection" or item.get("id") in measured for item in met)
    return bool(met and measured) and shown and is_for_speed(intake)


def needs_inertness(specification: Mapping[str, object], *, kinds: Sequence[str], action: str) -> bool:
    """Whether nothing but a measured inertness can show that the change is what was asked for.

    Args:
        kinds: of the suite's tests, target or guard.
    """
    guarded = action in GUARDING and bool(kinds)
    return by_inspection_alone(specification) and "target" not in kinds and not guarded


def _records(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
