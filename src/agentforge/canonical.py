"""Canonical bytes, digests and ids: the same value always has the same bytes and the same name."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import NewType

Digest = NewType("Digest", str)
"""Lower-case hex SHA-256, 64 characters."""

_SLUG_LIMIT = 40


def canonical_bytes(value: object) -> bytes:
    """Encode a JSON value so that equal values give equal bytes.

    Keys sorted, no white space, UTF-8, no NaN; lone surrogates are escaped so that any text can be recorded.

    Raises:
        ValueError: NaN or infinity.
        TypeError: a value that JSON cannot hold.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of raw bytes."""
    return Digest(hashlib.sha256(data).hexdigest())


def digest_value(value: object) -> Digest:
    """SHA-256 of the canonical bytes of a JSON value."""
    return digest_bytes(canonical_bytes(value))


def slug(text: str, *, limit: int = _SLUG_LIMIT) -> str:
    """Turn a request into the readable end of a task id.

    Args:
        limit: characters, >= 1; the cut falls between words where it can.
    Returns:
        Lower-case ASCII letters, digits and single hyphens; "task" when nothing is left.
    """
    ascii_text = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode("ascii").lower()
    words = re.findall(r"[a-z0-9]+", ascii_text)
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word[:limit]
        if len(longer) > limit:
            break
        out = longer
    return out or "task"


def task_id(request: str, *, day: str, taken: frozenset[str] = frozenset()) -> str:
    """Name a task `task-YYYYMMDD-slug`, with `-2`, `-3` when the name is taken.

    Args:
        day: `YYYYMMDD`.
    """
    base = f"task-{day}-{slug(request)}"
    if base not in taken:
        return base
    number = 2
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"
