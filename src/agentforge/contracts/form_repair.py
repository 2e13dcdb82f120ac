"""Mending the form of a draft: what a schema wants and the value plainly says is written that way; what is optional and cannot be
read is dropped. Each step is told. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from agentforge.contracts.contract import Json
from agentforge.contracts.failures import errors_of, place_of
from agentforge.contracts.nearest import nearest
from agentforge.frozen import dataclass

_ROUNDS = 8
_SAID = ("description", "text", "criterion", "value", "name", "path", "title")
"""Where a record that stands for a text holds it."""
_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One thing that the harness mended or dropped in a draft.

    Attributes:
        kind: which repair it was.
        path: the place in the draft.
        message: a sentence that says what was wrong and what was done.
    """

    kind: str
    path: str
    message: str

    def value(self) -> dict[str, object]:
        """Give the repair as it is recorded."""
        return {"repair": self.kind, "path": self.path, "message": self.message}


def in_form(draft: Json, schema: Json) -> tuple[dict[str, object], list[Repair]]:
    """Write values in the form that the schema asks for, where there is but one way to read them.

    Args:
        schema: JSON Schema of the draft.
    Returns:
        A new draft, and what was mended: nulls, numbers as texts, single values for lists, near misses of allowed words, texts
        that are too long, entries that stand twice in a list of texts.
    """
    told: list[Repair] = []
    value = _mended(dict(draft), schema, (), told)
    return (dict(value) if isinstance(value, Mapping) else dict(draft)), told


def without_unreadable(draft: Json, schema: Json) -> tuple[dict[str, object], list[Repair]]:
    """Drop what the schema does not allow wherever it may be missing.

    Returns:
        A new draft, and what was dropped. What is required and wrong stays: only its author can correct it.
    """
    value: dict[str, object] = json.loads(json.dumps(draft))
    told: list[Repair] = []
    for _ in range(_ROUNDS):
        dropped = False
        for error in errors_of(value, schema):
            place = _droppable(schema, list(error.instance_path))
            if place and _drop(value, place):
                reason = " ".join(str(error.message).split())[:160]
                message = f"{place_of(place)} could not be read and was left out: {reason}."
                told.append(Repair(kind="unreadable", path=place_of(place), message=message))
                dropped = True
                break  # places behind it have moved
        if not dropped:
            break
    return value, told


def _mended(value: object, schema: Json, path: tuple[str | int, ...], told: list[Repair]) -> object:
    types = schema.get("type")
    allowed = _strings(types) if isinstance(types, list) else [types] if isinstance(types, str) else []
    value = _cast(value, allowed, schema, path, told)
    if isinstance(value, Mapping):
        return _mended_record(value, schema, path, told)
    if isinstance(value, list):
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else {}
        found = [_mended(item, inner, (*path, number), told) for number, item in enumerate(value) if item is not None]
        return _once(found, path, told)
    return value


def _mended_record(value: Json, schema: Json, path: tuple[str | int, ...], told: list[Repair]) -> dict[str, object]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    other = schema.get("additionalProperties")
    result: dict[str, object] = {}
    for name, item in value.items():
        inner = known.get(name, other if isinstance(other, Mapping) else {})
        if item is None and name in known and not _takes_null(inner):
            continue  # nothing was said: the same as leaving it out
        result[name] = _mended(item, inner, (*path, name), told)
    return result


def _cast(value: object, allowed: list[str], schema: Json, path: tuple[str | int, ...], told: list[Repair]) -> object:
    """The value in an allowed type, where it says plainly which one it is."""
    if not allowed or value is None:
        return value
    new: object = _MISSING
    if "string" in allowed:
        new = _as_text(value, schema)
    elif "array" in allowed and isinstance(value, (str, Mapping)) and value:
        new = [value]
    elif "array" in allowed and value == "":
        new = []
    elif allowed[0] in ("integer", "number") and isinstance(value, str):
        new = _as_number(value)
    elif "boolean" in allowed and isinstance(value, str) and value.strip().lower() in ("true", "false"):
        new = value.strip().lower() == "true"
    if new is _MISSING or (type(new) is type(value) and new == value):
        return value
    place = place_of(path)
    told.append(Repair(kind="form", path=place, message=f"{place} was {_short(value)}; it is read as {_short(new)}."))
    return new


def _as_text(value: object, schema: Json) -> object:
    if isinstance(value, Mapping):
        value = next((value[name] for name in _SAID if isinstance(value.get(name), str)), _MISSING)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = "\n".join(str(item) for item in value)
    if isinstance(value, (bool, int, float)):
        value = json.dumps(value)
    if not isinstance(value, str):
        return _MISSING
    options = schema.get("enum")
    if isinstance(options, list) and value not in options:
        return _option(value, [option for option in options if isinstance(option, str)])
    limit = schema.get("maxLength")
    if isinstance(limit, int) and len(value) > limit:
        return value[: limit - 3].rsplit(" ", 1)[0].rstrip() + "..."
    return value


def _option(value: str, options: list[str]) -> object:
    """The allowed word that was meant: the same letters, a part of what was said, or the nearest one."""
    bare = re.sub(r"[^a-z0-9]+", " ", value.lower()).strip()
    same = [option for option in options if re.sub(r"[^a-z0-9]+", " ", option.lower()) == bare]
    inside = [option for option in options if re.search(rf"\b{re.escape(option.lower())}", bare)]
    for found in (
        same,
        inside,
        [option for option in options if bare.endswith(option.lower())],
        nearest(bare, options),
    ):
        if found:
            return found[0]
    return _MISSING


def _as_number(value: str) -> object:
    try:
        number = float(value.strip().rstrip("%"))
    except ValueError:
        return _MISSING
    number = number / 100 if value.strip().endswith("%") else number
    return int(number) if number.is_integer() else number


def _once(found: list[object], path: tuple[str | int, ...], told: list[Repair]) -> list[object]:
    """A list of texts without repetitions."""
    if not all(isinstance(item, str) for item in found) or len(set(map(str, found))) == len(found):
        return found
    told.append(
        Repair(kind="twice", path=place_of(path), message=f"{place_of(path)} named an entry twice; it counts once.")
    )
    return list(dict.fromkeys(found))


def _droppable(schema: Json, path: list[str | int]) -> list[str | int]:
    """The innermost place on the way to a failing value that may be missing; [] when everything there is required."""
    for end in range(len(path), 0, -1):
        way, last = path[: end - 1], path[end - 1]
        owner = _schema_at(schema, way)
        if isinstance(last, int):
            if _optional_list(schema, way):
                return path[:end]
        elif last not in _strings(owner.get("required")):
            return path[:end]
    return []


def _optional_list(schema: Json, way: list[str | int]) -> bool:
    """Whether a list may lose an entry: it may be missing itself, so that no reader counts on what it holds."""
    if not way or not isinstance(way[-1], str):
        return False
    owner = _schema_at(schema, way[:-1])
    return way[-1] not in _strings(owner.get("required")) and not _schema_at(schema, way).get("minItems")


def _schema_at(schema: Json, way: list[str | int]) -> Json:
    here: object = schema
    for part in way:
        if not isinstance(here, Mapping):
            return {}
        if isinstance(part, int):
            here = here.get("items")
        else:
            properties = here.get("properties")
            here = (
                properties.get(part)
                if isinstance(properties, Mapping) and part in properties
                else here.get("additionalProperties")
            )
    return here if isinstance(here, Mapping) else {}


def _drop(value: object, place: list[str | int]) -> bool:
    for part in place[:-1]:
        if isinstance(value, Mapping) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return False
    last = place[-1]
    if isinstance(value, dict):
        return value.pop(str(last), _MISSING) is not _MISSING
    if isinstance(value, list) and isinstance(last, int) and last < len(value):
        del value[last]
        return True
    return False


def _takes_null(schema: object) -> bool:
    if not isinstance(schema, Mapping) or "type" not in schema:
        return True
    types = schema["type"]
    return "null" in types if isinstance(types, list) else types == "null"


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
