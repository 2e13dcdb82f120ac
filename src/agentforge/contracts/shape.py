"""The shape of a draft in one line, as a programmer would write it: a third of what its JSON Schema costs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

Json = Mapping[str, object]

_WORDS = {"integer": "number"}


def shape_of(schema: Json) -> str:
    """Write the shape of a JSON Schema: `{name: string, kind: a | b, line?: number, tests: {name: string}[]}`.

    A field that may be left out has a question mark. What a shape cannot say (patterns, other bounds, descriptions) is left out.
    """
    allowed = schema.get("enum")
    if isinstance(allowed, (list, tuple)):
        return " | ".join(str(one) for one in allowed)
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(items, Mapping):
        inner = shape_of(items)
        return f"({inner})[]" if " | " in inner and not inner.startswith("{") else f"{inner}[]"
    if isinstance(properties, Mapping):
        needed = schema.get("required")
        told = needed if isinstance(needed, (list, tuple)) else ()
        return "{" + ", ".join(_field(str(name), one, needed=name in told) for name, one in properties.items()) + "}"
    kind, most = str(schema.get("type") or "any"), schema.get("maxLength")
    return f"{_WORDS.get(kind, kind)}{f' <= {most} letters' if most else ''}"


def _field(name: str, schema: object, *, needed: bool) -> str:
    return f"{name}{'' if needed else '?'}: {shape_of(schema) if isinstance(schema, Mapping) else 'any'}"
