"""Every blob that a record names is there and is what its name says; nothing else lies about in the run's folder."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Set

from agentforge.canonical import canonical_bytes, digest_bytes
from agentforge.errors import IntegrityError
from agentforge.proof.files import Files
from agentforge.proof.report import Check, told

_BLOB = re.compile(r"blobs/([0-9a-f]{2})/([0-9a-f]{62})(\.z)?")
_LARGEST = 1 << 30
LEASE = "lease"
_UNSEALED = {"boot_id", "fence", "host", "pid", "process_start", "released", "since"}
"""What a lease of an old version holds: no digest of itself."""


def blob(files: Files, digest: str) -> bytes:
    """The content that a digest names.

    Raises:
        IntegrityError: it is missing or altered.
    """
    plain, deflated = f"blobs/{digest[:2]}/{digest[2:]}", f"blobs/{digest[:2]}/{digest[2:]}.z"
    if plain in files and deflated in files:
        raise IntegrityError(f"blob {digest} is there twice")
    if plain in files:
        content = files[plain]
    elif deflated in files:
        content = _inflated(files[deflated], digest)
    else:
        raise IntegrityError(f"blob {digest} is missing")
    if digest_bytes(content) != digest:
        raise IntegrityError(f"blob {digest} was altered")
    return content


def blobs_check(files: Files, *, named: Set[str], recovered: bool) -> Check:
    """Check all blobs.

    Args:
        named: what the records name.
        recovered: the run was interrupted once; a blob may then stand without the record that was to name it.
    """
    problems = []
    for digest in sorted(named):
        try:
            blob(files, digest)
        except IntegrityError as exc:
            problems.append(exc.message)
    extra = 0
    for name in files:
        match = _BLOB.fullmatch(name)
        if match is None or match[1] + match[2] in named:
            continue
        extra += 1
        if not recovered or _altered(files, match[1] + match[2]):
            problems.append(f"{name} is named by no record")
    left = f", {extra} left by an interrupted write" if extra else ""
    return told("blobs", problems, held=f"{len(named)} named, all there with the right digest{left}")


def files_check(files: Files, *, known: Set[str], quarantined: Mapping[str, str], ended_well: bool) -> Check:
    """Check that the folder holds what a run holds and nothing else.

    Args:
        known: paths of the log and the views.
        quarantined: digest ("" = unknown) of each file that was moved aside when the log was opened again.
        ended_well: False = a process drives the run or died: temporary files may be there.
    """
    problems = [f"{name} is missing" for name in sorted(quarantined) if name not in files]
    for name in files:
        if name in quarantined:
            wanted = quarantined[name]
            if wanted and digest_bytes(files[name]) != wanted:
                problems.append(f"{name} was altered")
        elif not (name in known or name == LEASE or _BLOB.fullmatch(name) or (not ended_well and ".tmp" in name)):
            problems.append(f"{name} does not belong to a run")
    return told("files", problems, held=f"{len(files)} files, each accounted for")


def lease_check(files: Files, *, fence: int) -> tuple[Check, bool]:
    """Check the file that names the last writer, and tell whether that writer ended in good order.

    Args:
        fence: the highest writer's token in the log.
    """
    if LEASE not in files:
        return Check(name="lease", ok=False, detail="lease is missing"), True
    try:
        value = json.loads(files[LEASE])
        whole = canonical_bytes(value) + b"\n" == files[LEASE]
        stated = value.pop("digest", None)
        sealed = stated == digest_bytes(canonical_bytes(value)) if stated else value.keys() == _UNSEALED
        right = whole and sealed and value["fence"] >= fence
    except (ValueError, AttributeError, KeyError, TypeError):
        return Check(name="lease", ok=False, detail="lease is not what a writer wrote"), True
    if not right:
        return Check(name="lease", ok=False, detail="lease was altered"), True
    released = value.get("released") is True
    held = "the last writer let go of the run" if released else "a process drives the run, or died while it did"
    return Check(name="lease", ok=True, detail=held), released


def _inflated(data: bytes, digest: str) -> bytes:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, _LARGEST)
    except zlib.error as exc:
        raise IntegrityError(f"blob {digest} was altered: {exc}") from exc
    if stream.unused_data or not stream.eof:
        raise IntegrityError(f"blob {digest} was altered: its end is not where it was")
    return content


def _altered(files: Files, digest: str) -> bool:
    try:
        blob(files, digest)
    except IntegrityError:
        return True
    return False
