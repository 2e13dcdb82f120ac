from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given, settings, strategies as st

from agentforge.canonical import canonical_bytes
from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.storage.state_codec import decode, encode

KINDS = [
    value
    for value in vars(kinds).values()
    if isinstance(value, type) and issubclass(value, Event) and value is not Event
]

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)


def of_hint(hint: object) -> st.SearchStrategy[object]:
    """Values of a field by its type hint; a hint that this does not know fails the test, so that it is added here."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    simple = {
        str: st.text(),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }
    if hint in simple:
        return simple[hint]
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is Mapping:
        return st.dictionaries(st.text(), JSON, max_size=4)
    if origin is tuple:
        return st.lists(of_hint(arguments[0]), max_size=3).map(tuple)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(of_hint, arguments))
    raise AssertionError(f"no strategy for {hint}")


def events_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{item.name: of_hint(hints[item.name]) for item in fields(kind)})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_event_comes_back_from_its_json_bytes(kind, data):
    event = data.draw(events_of(kind))
    type_name, values = encode(event)
    assert decode(type_name, values) == event
    assert decode(type_name, json.loads(canonical_bytes(values))) == event


def test_values_that_json_does_not_have_become_the_ones_it_has():
    event = kinds.FactsGathered(name="x", attempt=1, facts=types.MappingProxyType({"ids": ("a", ("b",))}))
    assert encode(event)[1]["facts"] == {"ids": ["a", ["b"]]}


def test_fields_of_a_newer_program_are_dropped_and_missing_ones_default():
    event = decode("StageStarted", {"stage": "red", "attempt": 2, "invented_later": [1]})
    assert event == kinds.StageStarted(stage="red", attempt=2)
    assert decode("RunInterrupted", {"reason": "x"}) == kinds.RunInterrupted(reason="x", slug="")


@pytest.mark.parametrize("name", ["Teleported", "Event", "Json", "", "__name__", "dataclass"])
def test_an_unknown_type_says_that_the_log_is_newer(name):
    with pytest.raises(IntegrityError, match="upgrade"):
        decode(name, {})


def test_a_missing_required_field_is_named():
    with pytest.raises(IntegrityError, match=r"StageStarted.*attempt"):
        decode("StageStarted", {"stage": "red"})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_events_are_frozen_slotted_and_documented(kind):
    assert kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}(")
    assert hasattr(kind, "__slots__")
    event = kind(**{item.name: "" for item in fields(kind)})
    with pytest.raises(FrozenInstanceError):
        setattr(event, fields(kind)[0].name, "x")
