"""Image files that a model may be shown: what they are is read from their first bytes, not from their names."""

from __future__ import annotations

from pathlib import Path

from agentforge.canonical import digest_bytes
from agentforge.messages import Picture

MOST_BYTES = 5_000_000
"""What the strictest provider takes of one image."""

_KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


class PictureTooLarge(Exception):
    """An image is larger than models take; its text says how large it is."""


def kind_of(head: bytes) -> str:
    """The media type of an image by its first bytes, "" for what is none that models take."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in _KINDS if head.startswith(mark)), "")


def read_picture(file: Path, *, name: str) -> Picture | None:
    """Read an image; None when the file is none.

    Args:
        name: how it is called, for model and person.
    Raises:
        OSError: the file cannot be read.
        PictureTooLarge: it has more than `MOST_BYTES`.
    """
    with file.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    kind = kind_of(data[:16])
    if not kind:
        return None
    if len(data) > MOST_BYTES:
        raise PictureTooLarge(
            f"{name} is an image of {file.stat().st_size:,} bytes; models take {MOST_BYTES:,} at most"
        )
    return Picture(name=name, media_type=kind, digest=digest_bytes(data), data=data)
