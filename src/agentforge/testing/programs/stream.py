"""The child's end of the result channel: signed JSON lines on an inherited descriptor."""

from __future__ import annotations

import hmac
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def open_stream(descriptor: int, key: bytes) -> Callable[[dict[str, Any]], None]:
    """Return a function that sends one record.

    Everything that it needs is captured here, before any code of the project runs. Records are numbered and signed, so
    that a line written by somebody else, a lost line and a line out of order all show. A forked child sends nothing.
    """
    write, digest, getpid, view = os.write, hmac.digest, os.getpid, memoryview
    encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
    owner = getpid()
    count = 0
    os.set_inheritable(descriptor, False)

    def send(record: dict[str, Any]) -> None:
        nonlocal count
        if getpid() != owner:
            return
        body = encode(record)
        signature = digest(key, f"{count}:{body}".encode("ascii"), "sha256").hex()
        count += 1
        rest = view(f'{{"n":{count - 1},"s":"{signature}","r":{body}}}\n'.encode("ascii"))
        while rest:
            rest = rest[write(descriptor, rest) :]

    return send
