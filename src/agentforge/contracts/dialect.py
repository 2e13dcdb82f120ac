"""Reading a contract as it is written in YAML: its head, its schema, its rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from agentforge.canonical import digest_value
from agentforge.contracts.contract import Contract, ContractRule, Sort, to_json_schema
from agentforge.contracts.expression import compile_expression
from agentforge.contracts.nearest import near_hint
from agentforge.contracts.rules import find_rule
from agentforge.contracts.strict_yaml import load_strict
from agentforge.contracts.translation import ContractPlace, translate_schema
from agentforge.errors import ContractInvalid

__all__ = ["contract_of", "is_for_code", "merge", "parse_contract", "read_document", "to_json_schema"]

_HEAD = ("contract", "version", "description", "schema", "validation", "extends")
_NAME = r"[a-z][a-z0-9_]{0,63}"
_RULE_KINDS = ("rule", "cel", "command")
_RULE_KEYS = (*_RULE_KINDS, "message", "sort")
_SORTS: tuple[Sort, ...] = ("fact", "note")  # what a repair mends is the harness's own knowledge


def parse_contract(text: str, *, source: str) -> Contract:
    """Read one contract that stands alone.

    Raises:
        ContractInvalid: names source, place and the nearest known word; also for `extends`, which needs a set
            (`catalogue.build`).
    """
    document = read_document(text, source=source)
    if "extends" in document:
        raise ContractInvalid(f"{source}: extends needs the contract {document['extends']!r}", hint="load it as a set")
    return contract_of(document, source=source)


def read_document(text: str, *, source: str) -> Mapping[str, object]:
    """Read the YAML of a contract and check its head, not its schema and rules."""
    document = load_strict(text, source=source)
    if not isinstance(document, Mapping):
        raise ContractInvalid(f"{source} is not a mapping", hint="a contract starts with `contract: NAME`")
    for key in document:
        if key not in _HEAD:
            raise ContractInvalid(f"{source}: unknown key {key!r}", hint=near_hint(key, _HEAD))
    for key in ("contract", "extends"):
        value = document.get(key)
        if key in document and not (isinstance(value, str) and re.fullmatch(_NAME, value)):
            raise ContractInvalid(f"{source}: {key} is {value!r}", hint="a name in lower case, like test_suite")
    if "contract" not in document:
        raise ContractInvalid(f"{source}: no contract name", hint="add `contract: NAME`")
    return document


def is_for_code(text: str, *, source: str) -> bool:
    """Whether the file is a contract for code (`kind: code`), which the conformance checks read, and none between stages."""
    document = load_strict(text, source=source)
    return isinstance(document, Mapping) and document.get("kind") == "code"


def contract_of(document: Mapping[str, object], *, source: str, proved: bool = False) -> Contract:
    """Translate a document whose `extends` was already merged.

    Args:
        proved: a builtin contract, whose rules a test looks up: the rulebook need not be loaded before something is judged.
    Raises:
        ContractInvalid: a schema or rule that cannot be read.
    """
    version, description = (_text_of(document, key, source=source) for key in ("version", "description"))
    if "schema" not in document:
        raise ContractInvalid(f"{source}: no schema", hint="add `schema:` with one entry per property")
    entries = document.get("validation", [])
    if not isinstance(entries, list):
        raise ContractInvalid(f"{source}: validation is not a list", hint="write one rule per line, each after `- `")
    return Contract(
        name=str(document["contract"]),
        version=version,
        description=description,
        json_schema=translate_schema(document["schema"], place=ContractPlace(source=source, path="schema")),
        rules=tuple(
            _rule(entry, place=ContractPlace(source=source, path=f"validation[{number}]"), proved=proved)
            for number, entry in enumerate(entries)
        ),
        document=document,
        source=source,
        digest=digest_value(document),
    )


def merge(base: Mapping[str, object], extension: Mapping[str, object]) -> dict[str, object]:
    """Lay an extension over a contract: mappings deeply, rules appended, any other value replaced."""
    result = dict(base)
    for key, value in extension.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            result[key] = merge(below, value)
        elif key == "validation" and isinstance(below, list) and isinstance(value, list):
            result[key] = [*below, *(rule for rule in value if rule not in below)]
        else:
            result[key] = value
    return result


def _text_of(document: Mapping[str, object], key: str, *, source: str) -> str:
    value = document.get(key, "")
    if not isinstance(value, str):
        raise ContractInvalid(f"{source}: {key} is {value!r}", hint=f'put it in quotes: {key}: "{value}"')
    return value


def _rule(entry: object, *, place: ContractPlace, proved: bool) -> ContractRule:
    """One entry of `validation:`; a rule that nobody knows is an error here, not a rule that never fails."""
    if isinstance(entry, str) and proved:
        return ContractRule(kind="named", text=entry)
    if isinstance(entry, str):
        return ContractRule(kind="named", text=_sentence(entry, place))
    if not isinstance(entry, Mapping):
        raise place.invalid(
            f"is {entry!r}", hint="a sentence, or {rule: ...}, {cel: ...} or {command: ...} with message and sort"
        )
    for key, value in entry.items():
        if key not in _RULE_KEYS:
            raise place.invalid(f"has the unknown key {key!r}", hint=near_hint(key, _RULE_KEYS))
        if not isinstance(value, str) or not value.strip():
            raise place.below(key).invalid(f"is {value!r}", hint="it must be a string")
    kinds = [kind for kind in _RULE_KINDS if kind in entry]
    if len(kinds) != 1:
        raise place.invalid(f"needs exactly one of {', '.join(_RULE_KINDS)}")
    sort: Sort | Literal[""] = next((sort for sort in _SORTS if sort == entry.get("sort")), "")
    if "sort" in entry and not sort:
        raise place.below("sort").invalid(f"is {entry['sort']!r}", hint=f"one of {', '.join(_SORTS)}")
    (kind,), message = kinds, str(entry.get("message", ""))
    text = str(entry[kind])
    if kind == "rule":
        return ContractRule(kind="named", text=text if proved else _sentence(text, place), message=message, sort=sort)
    if kind == "command":
        return ContractRule(kind="command", text=text, message=message, sort=sort)

    compile_expression(text, source=f"{place.source}: {place.path}")
    return ContractRule(kind="cel", text=text, message=message, sort=sort)


def _sentence(name: str, place: ContractPlace) -> str:
    return find_rule(name, source=place.source).sentence
