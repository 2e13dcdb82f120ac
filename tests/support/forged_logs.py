"""Making a forged log whose chain is right again."""

from __future__ import annotations

import hashlib
from typing import Any

from agentforge.canonical import canonical_bytes
from agentforge.proof.chain import GENESIS


def chained(records: list[dict[str, Any]]) -> bytes:
    """Write records with hashes that follow from one another, whatever they hold."""
    head, lines = GENESIS, []
    for record in records:
        body = {key: value for key, value in record.items() if key != "hash"} | {"prev": head}
        head = hashlib.sha256(head.encode() + canonical_bytes(body)).hexdigest()
        lines.append(canonical_bytes({**body, "hash": head}) + b"\n")
    return b"".join(lines)
