"""An answer that programs read: JSON that is valid against a schema, asked for again where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.errors import UsageError

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import TurnResult

_TRIES = 3
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.DOTALL)
_MOST_ERRORS = 5


def schema_of(given: str) -> Mapping[str, object]:
    """Read a JSON schema: a JSON text, or the name of a file that holds one.

    Raises:
        UsageError: it is neither.
    """
    from jsonschema_rs import Draft202012Validator

    text = given
    try:
        if not given.lstrip().startswith("{"):
            text = Path(given).read_text("utf-8")
        value = json.loads(text)
        Draft202012Validator(value)
    except (OSError, ValueError) as exc:  # ValidationError of jsonschema_rs is a ValueError, too
        raise UsageError(f"--json-schema: {exc}", hint="pass a JSON schema, or a file that holds one") from exc
    if not isinstance(value, dict):
        raise UsageError("--json-schema: a schema is an object", hint='such as {"type": "object"}')
    return value


def words_about(schema: Mapping[str, object]) -> str:
    """What the instructions say of the answer's form."""
    told = json.dumps(schema, ensure_ascii=False)
    return f"Your last message, the answer without a tool call, is nothing but JSON that is valid against this schema:\n{told}"


def answered(schema: Mapping[str, object], first: TurnResult, again: Callable[[str], TurnResult]) -> TurnResult:
    """Read an answer by a schema; one that is not valid is asked for again, with what is wrong with it.

    Args:
        again: says something more to the model.
    Returns:
        The turn with `structured`, or with the outcome "failed" when no answer was valid.
    """
    result = first
    for number in range(_TRIES):
        if result.outcome != "completed":
            return result
        value, wrong = _read(result.text, schema)
        if not wrong:
            return replace(result, structured=value)
        if number + 1 < _TRIES:
            result = again(
                f"Your answer is not valid JSON of the wanted form: {wrong}. Answer again, with the JSON alone."
            )
    reason = f"structured_output: after {_TRIES} tries the answer is not valid: {wrong}"
    return replace(result, outcome="failed", reason=reason)


def _read(text: str, schema: Mapping[str, object]) -> tuple[object, str]:
    """The value of an answer, and what is wrong with it; "" = nothing."""
    from jsonschema_rs import Draft202012Validator

    fenced = _FENCED.search(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except ValueError as exc:
        return None, f"it cannot be read: {exc}"
    errors = [
        f"{'/'.join(map(str, error.instance_path)) or 'the whole'}: {error.message}"
        for error in Draft202012Validator(dict(schema)).iter_errors(value)
    ]
    return value, "; ".join(errors[:_MOST_ERRORS])
