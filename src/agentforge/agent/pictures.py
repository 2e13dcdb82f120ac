"""Images of a run: recorded by their digests, their bytes lie beside the log and are fetched for a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from agentforge.messages import ModelRequest, Picture


class BlobStore(Protocol):
    """Content-addressed bytes of a run."""

    def put(self, data: bytes) -> str:
        """Store and return the digest."""

    def get(self, digest: str) -> bytes:
        """Return the bytes."""


def kept_pictures(pictures: Iterable[Picture], blobs: BlobStore) -> tuple[Mapping[str, object], ...]:
    """Images as an event records them.

    Side effects: stores their bytes.
    """
    return tuple({**one.value(), "digest": blobs.put(one.data)} for one in pictures)


def pictured(request: ModelRequest, blobs: BlobStore) -> ModelRequest:
    """The request with the bytes of its images."""
    if not any(message.pictures for message in request.messages):
        return request
    messages = tuple(
        replace(message, pictures=tuple(replace(one, data=blobs.get(one.digest)) for one in message.pictures))
        for message in request.messages
    )
    return replace(request, messages=messages)
