"""From the contract dialect to JSON Schema 2020-12. Every mistake of the author is named with its place.

The keywords of the contract dialect and how each becomes JSON Schema 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from agentforge.contracts.nearest import near_hint
from agentforge.errors import ContractInvalid
from agentforge.frozen import dataclass

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractPlace:
    """Where in which file the author's words stand."""

    source: str
    path: str

    def below(self, *names: str) -> ContractPlace:
        """The place one or more keys deeper."""
        return ContractPlace(source=self.source, path=".".join([self.path, *names]))

    def invalid(self, problem: str, *, hint: str = "") -> ContractInvalid:
        """The error about this place."""
        return ContractInvalid(f"{self.source}: {self.path} {problem}", hint=hint)


def translate_schema(schema: object, *, place: ContractPlace) -> dict[str, object]:
    """Translate a contract's `schema:`: property -> keywords, or a whole `{type: object, properties: ...}`.

    Raises:
        ContractInvalid: an unknown keyword, a value of the wrong type, a bad regular expression.
    """
    if not isinstance(schema, Mapping) or not schema:
        raise place.invalid("must be a mapping of property names to keywords")
    whole = isinstance(schema.get("type"), str)
    if whole and schema["type"] != "object":
        raise place.invalid(f"describes {schema['type']!r}", hint="an artifact is an object")
    body = schema if whole else {"type": "object", "properties": schema}
    inner = place if whole else ContractPlace(source=place.source, path=place.path)
    translated = translate(body, place=inner, shown_properties=whole)
    return {"$schema": _DIALECT, **translated}


def translate(spec: Mapping[str, object], *, place: ContractPlace, shown_properties: bool = True) -> dict[str, object]:
    """Translate the keywords of one value, and of all values inside it.

    Args:
        shown_properties: False when the author left `properties:` out, so that places are named as they are written.
    """
    types = _types(spec, place)
    result: dict[str, object] = {}
    if types:
        result["type"] = types[0] if len(types) == 1 else types
    for spelling, value in spec.items():
        name = SPELLINGS.get(spelling)
        if name is None:
            raise place.invalid(f"has the unknown keyword {spelling!r}", hint=near_hint(spelling, SPELLINGS))
        here = place.below(spelling)
        _check_value(value, KEYWORDS[name], types=types, place=here)
        if name == "properties" and isinstance(value, Mapping):
            _add_properties(result, value, place=here if shown_properties else place)
        elif name == "format":
            result["format"] = _format(value, here)
        elif name == "required":
            _add_required(result, value, here)
        elif KEYWORDS[name].schema_name:
            result[name] = _nested(value, KEYWORDS[name], here)
    return _with_null(result) if spec.get("nullable") is True else result


def _types(spec: Mapping[str, object], place: ContractPlace) -> list[str]:
    """The declared types, checked."""
    declared = spec.get("type")
    if declared is None:
        return []
    names = declared if isinstance(declared, list) else [declared]
    for name in names:
        if name not in TYPES:
            raise place.below("type").invalid(f"is {name!r}", hint=near_hint(str(name), TYPES))
    if not names:
        raise place.below("type").invalid("is empty", hint=f"one of {', '.join(TYPES)}")
    return [str(name) for name in names]


def _check_value(value: object, keyword: Keyword, *, types: list[str], place: ContractPlace) -> None:
    """Refuse a keyword whose value has the wrong shape or that says nothing about the declared type."""
    if not is_kind(value, keyword.kind):
        raise place.invalid(f"is {_short(value)}", hint=f"it must be {KIND_WORDS[keyword.kind]}")
    if keyword.fits and types and not set(keyword.fits) & set(types):
        raise place.invalid(
            f"says nothing about type {', '.join(types)}", hint=f"it is for {' or '.join(keyword.fits)}"
        )
    if keyword.schema_name == "pattern":
        try:
            re.compile(str(value))
        except re.error as exc:
            raise place.invalid(f"is not a regular expression: {exc}", hint="correct the pattern") from exc
    if keyword.schema_name == "enum" and value == []:
        raise place.invalid("is empty", hint="list the allowed values")


def _nested(value: object, keyword: Keyword, place: ContractPlace) -> object:
    """Translate what lies inside `items`, `additionalProperties` and `any_of`; other values stand as they are."""
    if keyword.kind in ("spec", "flag-or-spec") and isinstance(value, Mapping):
        return translate(_without_required_flag(value, place), place=place)
    if keyword.kind == "specs" and isinstance(value, list):
        return [
            translate(_without_required_flag(item, place.below(str(number))), place=place.below(str(number)))
            for number, item in enumerate(value)
        ]
    return value


def _without_required_flag(spec: Mapping[str, object], place: ContractPlace) -> Mapping[str, object]:
    """`required: true` belongs to a property; elsewhere it is a mistake that must not be swallowed."""
    if isinstance(spec.get("required"), bool):
        raise place.below("required").invalid("stands outside of a property", hint="say it of a property")
    return spec


def _add_properties(result: dict[str, object], properties: Mapping[str, object], *, place: ContractPlace) -> None:
    """Translate each property; gather the names of those that say `required: true`."""
    schemas: dict[str, object] = {}
    required: list[str] = []
    for name, spec in properties.items():
        here = place.below(name)
        if not isinstance(spec, Mapping):
            raise here.invalid(f"is {_short(spec)}", hint="it must be a mapping of keywords, like {type: string}")
        flag = spec.get("required")
        if flag is True:
            required.append(name)
        rest = {key: value for key, value in spec.items() if key != "required" or not isinstance(value, bool)}
        schemas[name] = translate(rest, place=here)
    result["properties"] = schemas
    _merge_required(result, required)


def _add_required(result: dict[str, object], value: object, place: ContractPlace) -> None:
    """The JSON Schema way: a list of names on the object."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise place.invalid(f"is {_short(value)}", hint="true or false on a property, or a list of names on an object")
    _merge_required(result, [str(name) for name in value])


def _merge_required(result: dict[str, object], names: list[str]) -> None:
    have = result.get("required")
    merged = [*(have if isinstance(have, list) else []), *names]
    if merged:
        result["required"] = list(dict.fromkeys(merged))


def _format(value: object, place: ContractPlace) -> str:
    """The JSON Schema name of a format. `datetime` is an ISO 8601 date-time with a time zone."""
    found = FORMATS.get(str(value))
    if found is None:
        raise place.invalid(f"is {value!r}", hint=near_hint(str(value), FORMATS))
    return found


def _with_null(schema: dict[str, object]) -> dict[str, object]:
    """Also allow null, whatever else is allowed."""
    result = dict(schema)
    types = result.get("type")
    if types is not None:
        listed = types if isinstance(types, list) else [types]
        result["type"] = list(dict.fromkeys([*listed, "null"]))
    options = result.get("enum")
    if isinstance(options, list) and None not in options:
        result["enum"] = [*options, None]
    if "const" in result:
        result["enum"] = [result.pop("const"), None]
    branches = result.get("anyOf")
    if isinstance(branches, list):
        result["anyOf"] = [*branches, {"type": "null"}]
    return result


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


Kind = Literal["flag", "text", "count", "number", "list", "any", "spec", "specs", "properties", "flag-or-spec"]
"""What a keyword's value must be."""

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
FORMATS: Mapping[str, str] = {
    "datetime": "date-time",
    "date-time": "date-time",
    "date": "date",
    "time": "time",
    "uri": "uri",
    "url": "uri",
    "email": "email",
    "uuid": "uuid",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword:
    """One keyword.

    Attributes:
        schema_name: its name in JSON Schema, "" when the translation is more than a renaming.
        fits: the types it says something about; () = all.
    """

    kind: Kind
    schema_name: str
    fits: tuple[str, ...] = ()


_NUMERIC = ("integer", "number")

KEYWORDS: Mapping[str, Keyword] = {
    "type": Keyword(kind="any", schema_name=""),
    "required": Keyword(kind="any", schema_name=""),
    "nullable": Keyword(kind="flag", schema_name=""),
    "format": Keyword(kind="text", schema_name="", fits=("string",)),
    "description": Keyword(kind="text", schema_name="description"),
    "default": Keyword(kind="any", schema_name="default"),
    "examples": Keyword(kind="list", schema_name="examples"),
    "enum": Keyword(kind="list", schema_name="enum"),
    "const": Keyword(kind="any", schema_name="const"),
    "pattern": Keyword(kind="text", schema_name="pattern", fits=("string",)),
    "minLength": Keyword(kind="count", schema_name="minLength", fits=("string",)),
    "maxLength": Keyword(kind="count", schema_name="maxLength", fits=("string",)),
    "minItems": Keyword(kind="count", schema_name="minItems", fits=("array",)),
    "maxItems": Keyword(kind="count", schema_name="maxItems", fits=("array",)),
    "uniqueItems": Keyword(kind="flag", schema_name="uniqueItems", fits=("array",)),
    "minProperties": Keyword(kind="count", schema_name="minProperties", fits=("object",)),
    "maxProperties": Keyword(kind="count", schema_name="maxProperties", fits=("object",)),
    "minimum": Keyword(kind="number", schema_name="minimum", fits=_NUMERIC),
    "maximum": Keyword(kind="number", schema_name="maximum", fits=_NUMERIC),
    "exclusiveMinimum": Keyword(kind="number", schema_name="exclusiveMinimum", fits=_NUMERIC),
    "exclusiveMaximum": Keyword(kind="number", schema_name="exclusiveMaximum", fits=_NUMERIC),
    "multipleOf": Keyword(kind="number", schema_name="multipleOf", fits=_NUMERIC),
    "items": Keyword(kind="spec", schema_name="items", fits=("array",)),
    "properties": Keyword(kind="properties", schema_name="", fits=("object",)),
    "additionalProperties": Keyword(kind="flag-or-spec", schema_name="additionalProperties", fits=("object",)),
    "anyOf": Keyword(kind="specs", schema_name="anyOf"),
}


def snake(name: str) -> str:
    """`minLength` -> `min_length`: each keyword may be written in either way."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


SPELLINGS: Mapping[str, str] = {spelling: name for name in KEYWORDS for spelling in (name, snake(name))}
"""Every accepted spelling -> the keyword's name."""


def is_kind(value: object, kind: Kind) -> bool:
    """Whether a keyword's value has the shape that the keyword wants, one level deep."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    shapes = {
        "flag": isinstance(value, bool),
        "text": isinstance(value, str),
        "count": number and isinstance(value, int) and value >= 0,
        "number": number,
        "list": isinstance(value, list),
        "any": True,
        "spec": isinstance(value, Mapping),
        "specs": isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value),
        "properties": isinstance(value, Mapping),
        "flag-or-spec": isinstance(value, bool | Mapping),
    }
    return shapes[kind]


KIND_WORDS: Mapping[Kind, str] = {
    "flag": "true or false",
    "text": "a string",
    "count": "a whole number, zero or more",
    "number": "a number",
    "list": "a list",
    "any": "a value",
    "spec": "a mapping of keywords",
    "specs": "a list of one or more mappings of keywords",
    "properties": "a mapping of property names to keywords",
    "flag-or-spec": "true, false or a mapping of keywords",
}
