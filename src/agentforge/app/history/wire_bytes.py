"""The body of a request as it went over the wire, made again from the record and proved by its digest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from agentforge.canonical import digest_bytes
from agentforge.errors import ConflictError
from agentforge.messages import request_from
from agentforge.models.api.catalogue import open_model
from agentforge.models.api.model import ModelSpec

if TYPE_CHECKING:
    from agentforge.config.settings import Settings
    from agentforge.models.api.model import Model

_NOWHERE = "http://127.0.0.1"


def body_with(sent: str, recorded: bytes, *, model: str, settings: Settings) -> bytes:
    """Encode a recorded request as the provider's dialect does.

    Args:
        sent: the digest that the body must have.
        recorded: bytes of the recorded request.
        model: `provider/name` that answered.
    Raises:
        ConflictError: what comes out has another digest.
    """

    request = request_from(json.loads(recorded))
    for spec in _specs(model, settings):
        opened: Model = open_model(spec)
        encode = getattr(opened, "body", None)
        opened.close()
        body = encode(request) if encode is not None else b""
        if digest_bytes(body) == sent:
            return body
    raise ConflictError(
        f"the body that was sent to {model} cannot be made again with this version and these settings",
        hint="look at the recorded request: agentforge inspect ID --step N --show context --json",
    )


def _specs(model: str, settings: Settings) -> Iterator[ModelSpec]:
    """The model with today's bounds, without any, and on a server that can do less. Nothing is sent: no key is needed."""
    from dataclasses import replace

    provider, _, name = model.partition("/")
    plain = ModelSpec(provider=provider, name=name, base_url=_NOWHERE)
    yield replace(
        plain,
        temperature=cast("float | None", settings.get("model.temperature")),
        max_output_tokens=int(settings.number("model.max_output_tokens")),
    )
    yield plain
    yield replace(plain, abilities=frozenset())  # a server that refused what goes beyond plain chat
