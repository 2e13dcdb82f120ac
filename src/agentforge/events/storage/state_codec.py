"""Events and a run's state as plain JSON values and back. Pure.

Old records are read for ever: unknown fields are dropped, missing ones default. The state is for the snapshot that makes a
long log quick to open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

from agentforge.canonical import digest_bytes, digest_value
from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state import attempt, run_state
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import talk_from

Value = Mapping[str, Any]
Kind = TypeVar("Kind")
_NAMES: dict[type[Event], tuple[str, ...]] = {}


def encode_state(state: RunState) -> dict[str, object]:
    """The state as JSON holds it."""
    value = _plain(state)
    assert isinstance(value, dict)
    return value


def decode_state(value: Value) -> RunState:
    """Build the state again.

    Raises:
        IntegrityError: the value is not the form of a state.
    """
    try:
        return _state(value)
    except (TypeError, KeyError, ValueError, AttributeError) as exc:
        raise IntegrityError(f"the snapshot holds no state: {exc}", hint="it is made again by itself") from exc


def state_digest(state: RunState) -> str:
    """Name a state by its content."""
    return value_digest(encode_state(state))


def value_digest(value: object) -> str:
    """Name an encoded state; the order of its keys belongs to it: escalations and stages come in the order of events."""
    return digest_bytes(json.dumps(value, separators=(",", ":")).encode("ascii"))


@cache
def state_shape() -> str:
    """A word that changes whenever the fields of the state do: a snapshot of another shape is not read."""
    names = {**vars(attempt), **vars(run_state)}.values()
    kinds = [kind for kind in names if isinstance(kind, type) and is_dataclass(kind)]
    return digest_value([[kind.__name__, [field.name for field in fields(kind)]] for kind in kinds])[:16]


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _state(value: Value) -> RunState:
    return RunState(
        identity=_made(run_state.RunIdentity, value["identity"]),
        brief=_made(run_state.Brief, value["brief"], limits=run_state.Limits(**value["brief"]["limits"])),
        progress=_progress(value["progress"]),
        review=_review(value["review"]),
        work=_made(run_state.Work, value["work"]),
        usage=_usage(value["usage"]),
        people=_made(run_state.People, value["people"], escalations=_each(value["people"]["escalations"], _escalation)),
        relations=_made(run_state.Relations, value["relations"]),
        talk=talk_from(value["talk"]),
    )


def _progress(value: Value) -> run_state.Progress:
    stages = _each(value["stages"], lambda item: _made(attempt.StageState, item))
    return _made(run_state.Progress, value, turn=_turn(value["turn"]), stages=stages)


def _review(value: Value) -> run_state.Review:
    return _made(
        run_state.Review,
        value,
        submission=_made(attempt.Submission, value["submission"]) if value["submission"] else None,
        verdict=_made(attempt.Verdict, value["verdict"]) if value["verdict"] else None,
        reopened=_made(attempt.Reopening, value["reopened"]) if value["reopened"] else None,
    )


def _usage(value: Value) -> run_state.RunUsage:
    return run_state.RunUsage(
        totals=run_state.Totals(**value["totals"]),
        spending=_each(value["spending"], lambda item: _made(run_state.Spent, item)),
        inherited=_each(value["inherited"], lambda item: _made(run_state.Spent, item)),
        lately=tuple((at, tokens, usd) for at, tokens, usd in value["lately"]),
    )


def _turn(value: Value) -> attempt.Turn:
    return _made(
        attempt.Turn,
        value,
        calls=tuple(attempt.Call(**call) for call in value["calls"]),
        results=_results(value["results"]),
        recent=tuple(_made(attempt.FinishedStep, step, results=_results(step["results"])) for step in value["recent"]),
        views=tuple((path, view) for path, view in value["views"]),
    )


def _escalation(value: Value) -> run_state.Escalation:
    answer = value["resolution"]
    return _made(run_state.Escalation, value, resolution=decode("EscalationResolved", answer) if answer else None)


def _results(rows: list[Value]) -> tuple[Any, ...]:
    return tuple(decode("ToolFinished", row) for row in rows)


def _each(value: Value, make: Callable[[Value], Kind]) -> dict[str, Kind]:
    return {key: make(item) for key, item in value.items()}


def _made(kind: type[Kind], value: Value, **made: object) -> Kind:
    values = {**value, **made}
    return kind(**{**values, **{name: tuple(values[name]) for name in _tuples_of(cast("Hashable", kind))}})


@cache
def _tuples_of(kind: Any) -> tuple[str, ...]:
    """The fields of a record that are tuples, which JSON makes lists of."""
    return tuple(field.name for field in fields(kind) if str(field.type).startswith("tuple["))


def encode(event: Event) -> tuple[str, dict[str, object]]:
    """Return the event's type name and its fields; fields that hold their default `None` are kept."""
    return type(event).__name__, {name: _plain_field(getattr(event, name)) for name in _field_names(type(event))}


def decode(type_name: str, data: Mapping[str, object]) -> Event:
    """Rebuild an event.

    Raises:
        IntegrityError: no such event type, or a required field is missing.
    """
    kind = event_kinds().get(type_name)
    if kind is None:
        raise IntegrityError(
            f"unknown event type {type_name!r}", hint="the log was written by a newer agentforge: upgrade"
        )
    known = _field_names(kind)
    try:
        return kind(**{name: _frozen(value) for name, value in data.items() if name in known})
    except TypeError as exc:
        raise IntegrityError(f"event {type_name} cannot be read: {exc}") from exc


@cache
def event_kinds() -> Mapping[str, type[Event]]:
    """Every event by the name of its type."""
    return {
        name: value
        for name, value in vars(kinds).items()
        if isinstance(value, type) and issubclass(value, Event) and value is not Event
    }


def _field_names(kind: type[Event]) -> tuple[str, ...]:
    names = _NAMES.get(kind)
    if names is None:
        names = _NAMES[kind] = tuple(field.name for field in fields(kind))
    return names


def _plain_field(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain_field(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_field(item) for item in value]
    return value


def _frozen(value: object) -> object:
    """Lists at the top level of a field become tuples, so that events stay hashable in shape; inner values stay JSON."""
    return tuple(value) if isinstance(value, list) else value
