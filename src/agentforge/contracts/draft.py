"""What a model is asked to submit: a contract's schema without what the harness writes itself, short."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.contract import Contract, Json
from agentforge.contracts.translation import ContractPlace, translate

_DESCRIPTION_LIMIT = 90
_DROPPED = ("$schema", "examples", "default", "title")


def draft_schema(contract: Contract, *, omit: tuple[str, ...] = (), extra: Json | None = None) -> dict[str, object]:
    """Give the JSON Schema of a draft, to be the parameters of `submit_artifact`.

    Args:
        omit: properties that the harness writes, dotted where they lie deeper (`metadata`, `test_files.path`; lists are
            walked through). An object left without properties is left out too.
        extra: more properties, in the contract dialect (`{"note": {"type": "string", "required": True}}`).
    """
    schema = _compact(contract.json_schema)
    for path in omit:
        _remove(schema, path.split("."))
    if extra:
        place = ContractPlace(source="draft", path=contract.name)
        more = translate({"type": "object", "properties": extra}, place=place)
        _add(schema, more)
    return schema


def _compact(schema: Json) -> dict[str, object]:
    """A deep copy without annotations, descriptions cut to their first sentence."""
    result: dict[str, object] = {}
    for key, value in schema.items():
        if key in _DROPPED:
            continue
        if key == "description":
            result[key] = _first_sentence(str(value))
        elif key == "properties" and isinstance(value, Mapping):
            result[key] = {name: _compact(spec) for name, spec in value.items()}
        elif isinstance(value, Mapping) and key not in ("const", "enum"):
            result[key] = _compact(value)
        elif key == "anyOf" and isinstance(value, list):
            result[key] = [_compact(branch) for branch in value]
        else:
            result[key] = value
    return result


def _first_sentence(text: str) -> str:
    sentence = " ".join(text.split()).split(". ")[0].rstrip(".")
    if len(sentence) <= _DESCRIPTION_LIMIT:
        return sentence
    clauses = sentence[:_DESCRIPTION_LIMIT]
    whole = max(clauses.rfind(sign) for sign in ("; ", ", ", ": "))
    return clauses[:whole] if whole > 0 else clauses.rsplit(" ", 1)[0]


def _remove(schema: dict[str, object], path: list[str]) -> bool:
    """Remove a property; tells whether the object has no property left."""
    while isinstance(schema.get("items"), dict):
        schema = schema["items"]  # type: ignore[assignment]  # tested to be a dict in the line above
    properties = schema.get("properties")
    if not isinstance(properties, dict) or path[0] not in properties:
        return False
    below = properties[path[0]]
    if len(path) == 1 or _remove(below, path[1:]):
        del properties[path[0]]
        required = schema.get("required")
        left = [name for name in required if name != path[0]] if isinstance(required, list) else []
        schema.pop("required", None)
        schema.update({"required": left} if left else {})
    return not properties


def _add(schema: dict[str, object], more: Json) -> None:
    """Lay more properties into an object schema."""
    properties, added = schema.setdefault("properties", {}), more.get("properties")
    if isinstance(properties, dict) and isinstance(added, Mapping):
        properties.update(added)
    required, needed = schema.get("required"), more.get("required")
    names = [*(required if isinstance(required, list) else []), *(needed if isinstance(needed, list) else [])]
    if names:
        schema["required"] = list(dict.fromkeys(names))
