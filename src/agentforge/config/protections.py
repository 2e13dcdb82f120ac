"""Settings that protect: which value protects less than another. A project's weaker ones wait for trust."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import cast

from agentforge.config.durations import parse_duration
from agentforge.config.sources import Key
from agentforge.safety.policy.modes import TABLE, Mode, strictest

Weaker = Callable[[object, object], bool]
"""Whether the first value protects less than the second, which holds without it."""


def weakened(values: Mapping[str, object], held: Mapping[str, object]) -> Iterator[tuple[Key, object]]:
    """The settings of a file by which less would be protected than without it, each with its value.

    Args:
        values: nested tables of the file, valid.
        held: the settings that hold without it.
    """
    for name, weaker in _WEAKER.items():
        key = tuple(name.split("."))
        value = _at(values, key)
        if value is not None and weaker(value, _at(held, key)):
            yield key, value


def without(values: Mapping[str, object], keys: frozenset[Key]) -> dict[str, object]:
    """The tables without some of their settings."""
    kept: dict[str, object] = {}
    for name, value in values.items():
        inner = frozenset(key[1:] for key in keys if key[0] == name and len(key) > 1)
        if (name,) not in keys:
            kept[name] = without(value, inner) if inner and isinstance(value, Mapping) else value
    return kept


def _at(values: object, key: Key) -> object:
    for part in key:
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


def _amount(value: object) -> float:
    """A bound as a number; none is no bound."""
    if value in (None, "none"):
        return inf
    try:
        return parse_duration(value) if isinstance(value, str) else float(cast("float", value))
    except ValueError:  # what is no duration is told when the limits are read
        return inf


def _fewer(value: object, held: object) -> bool:
    return _amount(value) < _amount(held)


def _more(value: object, held: object) -> bool:
    return _amount(value) > _amount(held)


def _more_or_none(value: object, held: object) -> bool:
    """For counts of which 0 switches the bound off."""
    return _amount(value or "none") > _amount(held or "none")


def _later_of(*strictest_first: object) -> Weaker:
    return lambda value, held: strictest_first.index(value) > strictest_first.index(held)


def _names(value: object) -> frozenset[object]:
    return frozenset(value) if isinstance(value, list) else frozenset()


def _adds(value: object, held: object) -> bool:
    """For lists of what is left out or opened."""
    return not _names(value) <= _names(held)


def _drops(value: object, held: object) -> bool:
    """For lists of what is done: the project's own replaces the user's."""
    return not _names(held) <= _names(value)


def _widens(value: object, held: object) -> bool:
    """For a list that bounds; without one there is no bound."""
    return held is not None and _adds(value, held)


def _loosens(value: object, held: object) -> bool:
    """A mode that lets anything pass more easily than the other one does."""
    new, old = TABLE[Mode(str(value))], TABLE[Mode(str(held))]
    return any(strictest(new[kind], old[kind]) is not new[kind] for kind in old)


def _is_set(_value: object, _held: object) -> bool:
    return True


_WEAKER: Mapping[str, Weaker] = {
    "approval": _loosens,
    "allowed_tools": _widens,
    "browser.hosts": _adds,
    "browser.program": _is_set,
    "checks.commands": _drops,
    "checks.disable": _adds,
    "limits.attempts": _more,
    "limits.budget_tokens": _more,
    "limits.budget_usd": _more,
    "limits.deadline": _more,
    "limits.max_steps": _more,
    "limits.stage_steps": _more,
    "limits.tokens_per_minute": _more,
    "limits.usd_per_minute": _more,
    "loop_limit": _more_or_none,
    "max_turns": _more,
    "pipeline.stages": _drops,
    "sandbox.hidden": _drops,
    "sandbox.kind": _later_of("bubblewrap", "auto", "landlock", "none"),
    "verification.examiner": lambda value, held: value == "off" != held,
    "verification.examiner_asks": _later_of(True, False),
    "verification.impact_s": _fewer,
    "verification.mutants": _fewer,
    "verification.mutants_s": _fewer,
    "verification.mutants_share": _fewer,
    "verification.mutation_score": _fewer,
    "verification.returns": _fewer,
    "verification.survivors": _later_of("ask", "report"),
    "verification.untested": _more,
}
