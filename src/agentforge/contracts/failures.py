"""Schema failures in our words: the place, the value, what was expected, what to do.

Validating a value by a JSON Schema; a validator is made once for each schema.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.contracts.contract import Json
from agentforge.contracts.nearest import near_hint
from agentforge.errors import ContractInvalid

_VALUE_LIMIT = 80


def place_of(path: Sequence[str | int]) -> str:
    """Write an instance path the way people do: `requirements[2].id`."""
    place = ""
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return place


def explain(error: Any, *, schema: Mapping[str, object]) -> tuple[str, str]:  # Any: an error record of a Rust extension
    """Put one schema failure into words.

    Args:
        error: a `jsonschema_rs.ValidationError`.
        schema: the whole schema, to say what was expected.
    Returns:
        The path of the failing value ("" = the artifact itself), and the sentence about it.
    """
    place = place_of(error.instance_path)
    value = error.instance
    kind = type(error.kind).__name__
    own = _at(schema, list(error.schema_path)[:-1])
    if kind == "Required":
        missing = f"{place}.{error.kind.property}" if place else str(error.kind.property)
        wanted = expectation(_at(own, ["properties", error.kind.property]))
        return missing, f"{missing} is missing - add {wanted}"
    if kind in ("AdditionalProperties", "UnevaluatedProperties"):
        known = own.get("properties")
        names = [str(name) for name in error.kind.unexpected]
        hint = near_hint(names[0], known if isinstance(known, Mapping) else {})
        return place, f"{place or 'the artifact'} has the unknown {', '.join(map(repr, names))} - remove it ({hint})"
    if kind == "Constant" and place.startswith("verification."):
        return place, f"{place} was measured as {_shown(value)} - change the work until it is {expectation(own)}"
    name = place or "the artifact"
    return place, f"{name} {_shown(value)} {_problem(kind, error.kind, value)} - {_advice(own)}"


def expectation(schema: Mapping[str, object]) -> str:
    """Say in a few words what a schema wants: `a string matching ^REQ-[0-9]{3}$ like "REQ-001"`."""
    if "const" in schema:
        return _shown(schema["const"])
    options = schema.get("enum")
    if isinstance(options, list):
        return f"one of {', '.join(_bare(option) for option in options)}"
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        return " or ".join(expectation(branch) for branch in branches)
    types = schema.get("type", "value")
    words = " or ".join(_type_words(str(name), schema) for name in (types if isinstance(types, list) else [types]))
    if schema.get("pattern"):
        words += f" matching {schema['pattern']}"
    if schema.get("format"):
        words += f" in the format {schema['format']}{_FORMAT_SAMPLES.get(str(schema['format']), '')}"
    samples = schema.get("examples")
    return f"{words} like {_shown(samples[0])}" if isinstance(samples, list) and samples else words


_FORMAT_SAMPLES = {"date-time": " like 2025-12-31T10:15:00Z", "date": " like 2025-12-31"}
_TYPE_WORDS = {"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def _type_words(name: str, schema: Mapping[str, object]) -> str:
    """A type with what it holds, one level deep."""
    if name == "array":
        items = schema.get("items")
        held = items.get("type") if isinstance(items, Mapping) else None
        return f"a list of {held}s" if isinstance(held, str) else "a list"
    if name == "object":
        required = schema.get("required")
        return f"an object with {', '.join(map(str, required))}" if isinstance(required, list) else "an object"
    return _TYPE_WORDS.get(name, name)


def _problem(kind: str, detail: Any, value: object) -> str:
    """What is wrong with the value."""
    if kind in ("MinLength", "MaxLength"):
        return f"is {len(str(value))} characters long, {_bound(kind)} {detail.limit}"
    if kind in ("MinItems", "MaxItems", "MinProperties", "MaxProperties"):
        size = len(value) if isinstance(value, list | dict) else 0
        return f"has {size} entries, {_bound(kind)} {detail.limit}"
    problems = {
        "Type": "has the wrong type",
        "Enum": "is not allowed",
        "Constant": "is not what it must be",
        "Pattern": f"does not match {getattr(detail, 'pattern', '')}",
        "Format": f"is no {getattr(detail, 'format', '')}",
        "UniqueItems": "has an entry twice",
        "AnyOf": "fits none of the allowed forms",
        "Minimum": f"is below {getattr(detail, 'limit', '')}",
        "Maximum": f"is above {getattr(detail, 'limit', '')}",
    }
    return problems.get(kind, f"breaks the rule {kind}")


def _bound(kind: str) -> str:
    return "at least" if kind.startswith("Min") else "at most"


def _advice(own: Mapping[str, object]) -> str:
    wanted = expectation(own)
    limits = [f"{name} {own[name]}" for name in _LIMITS if name in own]
    return f"write {wanted}{' (' + ', '.join(limits) + ')' if limits else ''}"


_LIMITS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_LIMIT else f"{text[:_VALUE_LIMIT]}..."


def _bare(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _at(schema: Mapping[str, object], path: Sequence[str | int]) -> Mapping[str, object]:
    """The part of a schema at a path; {} where the path leads nowhere."""
    here: object = schema
    for part in path:
        if isinstance(here, Mapping):
            here = here.get(str(part))
        elif isinstance(here, list) and str(part).isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            return {}
    return here if isinstance(here, Mapping) else {}


def errors_of(value: object, schema: Json, *, source: str = "schema") -> list[Any]:  # Any: records of a Rust extension
    """List every way in which a value breaks a schema.

    Args:
        source: the file of the schema, for messages.
    Raises:
        ContractInvalid: the schema cannot be used.
        ValueError: the value is no JSON value.
    """
    return list(_validator(json.dumps(schema), source).iter_errors(value))


@functools.lru_cache(maxsize=64)
def _validator(schema_text: str, source: str) -> Any:  # Any: a Rust extension without stubs
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(json.loads(schema_text), validate_formats=True)
    except ValueError as exc:
        reason = str(exc).splitlines()[0]
        raise ContractInvalid(f"{source}: the schema cannot be used: {reason}", hint="correct the pattern") from exc
