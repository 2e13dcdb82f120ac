"""DSSE envelopes: a statement with its signatures. What is signed is the type and the bytes, never their meaning.

Source: DSSE v1 (github.com/secure-systems-lab/dsse).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence

from agentforge.canonical import canonical_bytes
from agentforge.errors import IntegrityError
from agentforge.frozen import dataclass

PAYLOAD_TYPE = "application/vnd.in-toto+json"
SSH_NAMESPACE = "agentforge"

Sign = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A key that can sign; where it lies is its maker's business."""

    key_id: str
    sign: Sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A signature with the fingerprint of the key that is said to have made it."""

    key_id: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """An envelope that was opened, not one that was believed."""

    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def statement(self) -> Mapping[str, object]:
        """The statement inside.

        Raises:
            IntegrityError: it is no JSON object.
        """
        try:
            value = json.loads(self.payload)
        except ValueError as exc:
            raise IntegrityError("the payload of an envelope is not JSON") from exc
        if not isinstance(value, dict):
            raise IntegrityError("the payload of an envelope is not a statement")
        return value

    @property
    def signed_bytes(self) -> bytes:
        """What the signatures are over."""
        return signed_bytes(self.payload)


def signed_bytes(payload: bytes) -> bytes:
    """The pre-authentication encoding of a payload."""
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(statement: Mapping[str, object], *, signer: Signer | None) -> dict[str, object]:
    """Put a statement into an envelope, signed where there is a key."""
    payload = canonical_bytes(statement)
    made = [{"keyid": signer.key_id, "sig": _text(signer.sign(signed_bytes(payload)))}] if signer else []
    return {"payload": _text(payload), "payloadType": PAYLOAD_TYPE, "signatures": made}


def read_envelopes(lines: bytes) -> list[Envelope]:
    """Read envelopes, one JSON line each.

    Raises:
        IntegrityError: a line is no envelope.
    """
    try:
        return [_envelope(json.loads(line)) for line in lines.splitlines()]
    except (ValueError, KeyError, TypeError, binascii.Error) as exc:
        raise IntegrityError(f"an envelope cannot be read: {exc}") from exc


def write_envelopes(envelopes: Sequence[Mapping[str, object]]) -> bytes:
    """The envelopes as they are stored: one canonical JSON line each."""
    return b"".join(canonical_bytes(item) + b"\n" for item in envelopes)


def _envelope(value: Mapping[str, object]) -> Envelope:
    if value["payloadType"] != PAYLOAD_TYPE:
        raise ValueError(f"its type is {value['payloadType']!r}")
    rows = value["signatures"]
    if not isinstance(rows, list):
        raise TypeError("its signatures are no list")
    made = tuple(Signature(key_id=str(row["keyid"]), data=_bytes(row["sig"])) for row in rows)
    return Envelope(payload=_bytes(value["payload"]), signatures=made)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: object) -> bytes:
    return base64.b64decode(str(text), validate=True)
