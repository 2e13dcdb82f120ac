"""Validating a value by a JSON Schema; a validator is made once for each schema."""

from __future__ import annotations

import functools
import json
from typing import Any

from agentforge.contracts.contract import Json
from agentforge.errors import ContractInvalid


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
