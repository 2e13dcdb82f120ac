"""Events to plain JSON values and back. Old records are read for ever: unknown fields are dropped, missing ones default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache

from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.events.kinds import Event

_NAMES: dict[type[Event], tuple[str, ...]] = {}


def encode(event: Event) -> tuple[str, dict[str, object]]:
    """Return the event's type name and its fields; fields that hold their default `None` are kept."""
    return type(event).__name__, {name: _plain(getattr(event, name)) for name in _field_names(type(event))}


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


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _frozen(value: object) -> object:
    """Lists at the top level of a field become tuples, so that events stay hashable in shape; inner values stay JSON."""
    return tuple(value) if isinstance(value, list) else value
