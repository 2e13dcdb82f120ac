"""What a small model is asked besides code: one choice among real places, and candidate examples for a person. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentforge.messages import Message, Text
from agentforge.pipeline.model.stage import items
from agentforge.pipeline.small_models.generation.prompt_variants import prompt
from agentforge.verification.examples.claims import Claim, claim_of, distinct

CANDIDATES = 5
_REQUEST = 1200


def choice_messages(request: str, options: Sequence[Mapping[str, object]]) -> tuple[Message, ...]:
    """Ask for one of the options: {place, shown}."""
    listed = "\n".join(f"- {row.get('place')}  {row.get('shown')}" for row in options)
    user = f"Request: {' '.join(request.split())[:_REQUEST]}\n\nPlaces:\n{listed}"
    return _said("system", prompt("small_place")), _said("user", user)


def choice_schema(places: Sequence[str]) -> dict[str, object]:
    """The answer is one of the places and nothing else."""
    return _object(place={"enum": list(places)})


def chosen_in(text: str, places: Sequence[str]) -> str:
    """The chosen place, "" when the answer is none of them."""
    value = object_in(text)
    chosen = str(value.get("place", "")) if value else text.strip().strip("`\"'")
    return chosen if chosen in places else ""


def examples_messages(request: str, functions: str) -> tuple[Message, ...]:
    """Ask for candidate examples.

    Args:
        functions: what is worked on, one in a line.
    """
    user = f"Request: {' '.join(request.split())[:_REQUEST]}\n\nFunctions:\n{functions}\n\nGive {CANDIDATES} examples."
    return _said("system", prompt("small_examples")), _said("user", user)


def examples_schema() -> dict[str, object]:
    """Some calls with their results."""
    text = {"type": "string", "minLength": 1, "maxLength": 160}
    rows = {"type": "array", "items": _object(call=text, returns=text), "minItems": 1, "maxItems": CANDIDATES}
    return _object(examples=rows)


def examples_in(text: str) -> tuple[Claim, ...]:
    """The examples of an answer that can be checked; the others are dropped: a person is shown examples alone."""
    claims = []
    for row in items((object_in(text) or {}).get("examples")):
        try:
            claims.append(claim_of(row))
        except ValueError:
            continue
    return distinct(claims)


def object_in(text: str) -> dict[str, object] | None:
    """The JSON object of an answer, fenced or not."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if start >= 0 else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _said(role: str, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text, stable=role == "system"),))  # type: ignore[arg-type] # one of the roles
