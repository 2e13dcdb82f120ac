"""What a model is asked to submit: a contract's schema without what the harness writes itself, short.

Laying a resubmitted draft over the one that was refused: who sends again sends what changes, and no more. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.contract import Contract, Json
from agentforge.contracts.translation import ContractPlace, translate

_DESCRIPTION_LIMIT = 90
_DROPPED = ("$schema", "examples", "default", "title")
_BARE = (*_DROPPED, "description", "minLength", "minItems", "minimum", "pattern")


def draft_schema(
    contract: Contract, *, omit: tuple[str, ...] = (), extra: Json | None = None, bare: bool = False
) -> dict[str, object]:
    """Give the JSON Schema of a draft, to be the parameters of `submit_artifact`.

    Args:
        omit: properties that the harness writes, dotted where they lie deeper (`metadata`, `test_files.path`; lists are
            walked through). An object left without properties is left out too.
        extra: more properties, in the contract dialect (`{"note": {"type": "string", "required": True}}`).
        bare: without descriptions and lower bounds, for a model that is told elsewhere what the fields hold.
    """
    schema = _compact(contract.json_schema, dropped=_BARE if bare else _DROPPED)
    for path in omit:
        _remove(schema, path.split("."))
    if extra:
        place = ContractPlace(source="draft", path=contract.name)
        more = translate({"type": "object", "properties": extra}, place=place)
        _add(schema, more)
    return schema


def _compact(schema: Json, *, dropped: tuple[str, ...]) -> dict[str, object]:
    """A deep copy without annotations, descriptions cut to their first sentence."""
    result: dict[str, object] = {}
    for key, value in schema.items():
        if key in dropped:
            continue
        if key == "description":
            result[key] = _first_sentence(str(value))
        elif key == "properties" and isinstance(value, Mapping):
            result[key] = {name: _compact(spec, dropped=dropped) for name, spec in value.items()}
        elif isinstance(value, Mapping) and key not in ("const", "enum"):
            result[key] = _compact(value, dropped=dropped)
        elif key == "anyOf" and isinstance(value, list):
            result[key] = [_compact(branch, dropped=dropped) for branch in value]
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


_KEYS = (("id",), ("path",), ("question",), ("name", "file"), ("mutant",), ("name",))
"""What tells the records of a list apart, the first that all of them have."""
_DROP = "drop"
"""`{"id": "REQ-002", "drop": true}` takes a record out of a list."""


def overlaid(refused: Json, sent: Json) -> dict[str, object]:
    """Lay what was sent again over the refused draft.

    A field that was not sent stays as it was; a value that was sent takes the place of the old one. Records of a list are merged
    by id, path, name, question or mutant, and those that were not sent stay. Taken as the whole list is one whose records have
    none of these (an example that says something else is another example), one that is as long as the old one and holds no
    record of it but shares a file with it, and one that repeats more than half of the old records exactly as they were. A shorter
    one with none of the old records adds to them: who answers "declare this name, too" sends that name.
    """
    return {**refused, **{name: _merged(refused.get(name), value) for name, value in sent.items()}}


def _merged(old: object, new: object) -> object:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return overlaid(old, new)
    before, sent = _records(old), _records(new)
    key = next((key for key in _KEYS if all(_has(item, key) for item in (*before, *sent))), None)
    if not before or not sent or key is None:
        return new
    known = {_identity(item, key): item for item in before}
    changes = {_identity(item, key): item for item in sent}
    elsewhere = "file" in key and not {one["file"] for one in before} & {one["file"] for one in sent}
    strange = key != ("id",) and not known.keys() & changes.keys() and len(changes) >= len(known) and not elsewhere
    repeated = sum(known.get(name) == item for name, item in changes.items())
    whole = strange or 2 * repeated > len(known)
    if whole and not any(item.get(_DROP) is True for item in sent):
        return [_record(known.get(name), item) for name, item in changes.items()]
    order = [*known, *(name for name in changes if name not in known)]
    merged = [_record(known.get(name), changes[name]) if name in changes else dict(known[name]) for name in order]
    return [{part: value for part, value in item.items() if part != _DROP} for item in merged if not item.get(_DROP)]


def _record(old: Json | None, new: Json) -> dict[str, object]:
    return overlaid(old or {}, new)


def _records(value: object) -> list[Json]:
    """The records of a list that holds nothing else; [] for anything else."""
    found = [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []
    return found if isinstance(value, (list, tuple)) and len(found) == len(value) else []


def _has(item: Json, key: tuple[str, ...]) -> bool:
    return all(isinstance(item.get(part), str) and item[part] for part in key)


def _identity(item: Json, key: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(str(item[part]).split()) for part in key)
