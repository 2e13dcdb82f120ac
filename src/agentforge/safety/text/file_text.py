"""The ways in which a known secret is written: as it is, and in the encodings that programs print."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

_SHORTEST_ENCODED = 12
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


@lru_cache(maxsize=256)
def written_forms(secret: str) -> tuple[str, ...]:
    """The value itself, and what it reads like in JSON, in an address, in hexadecimal digits, in base64 and backwards.

    In base64 a value reads in three ways, by what stands in front of it; the signs that its neighbours change are left out.
    """
    found = [secret, *(form for form in _encoded(secret) if len(form) >= _SHORTEST_ENCODED)]
    return tuple(dict.fromkeys(sorted(found, key=lambda form: -len(form))))


def _encoded(secret: str) -> Iterator[str]:
    from base64 import b64encode
    from json import dumps

    raw = secret.encode("utf-8", "surrogatepass")
    yield from (dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1])
    yield from (_percent(raw, "/"), _percent(raw, ""), _percent(raw, " ").replace(" ", "+"))
    yield from (raw.hex(), raw.hex().upper(), secret[::-1])
    for before in range(3):
        first, last = -(-before * 4 // 3), (before + len(raw)) * 8 // 6
        plain = b64encode(b"\0" * before + raw).decode("ascii")[first:last]
        yield from (plain, plain.replace("+", "-").replace("/", "_"))


def _percent(raw: bytes, kept: str) -> str:
    """As in an address: signs that mean something there become `%2F`, those in `kept` excepted."""
    plain = _UNRESERVED | set(kept.encode("ascii"))
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in raw)
