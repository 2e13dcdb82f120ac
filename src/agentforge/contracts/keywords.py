"""The keywords of the contract dialect (seed 001 section 2.2) and how each becomes JSON Schema 2020-12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agentforge.frozen import dataclass

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
