"""Every blob that a record names is there and is what its name says; nothing else lies about in the run's folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set

from agentforge.canonical import canonical_bytes, digest_bytes
from agentforge.errors import IntegrityError
from agentforge.events.storage.blob_form import PACK, blob_path, inflated, pack_entries, stored, zlib_version
from agentforge.proof.files import Files
from agentforge.proof.report import Check, told

_BLOB = re.compile(r"blobs/([0-9a-f]{2})/([0-9a-f]{62})(\.z)?")
_ASIDE = re.compile(r"quarantine/record-(\d{6,})-fence-\d+", re.ASCII)
LEASE = "lease"
_UNSEALED = {"boot_id", "fence", "host", "pid", "process_start", "released", "since"}
"""What a lease of an old version holds: no digest of itself."""


def blob(files: Files, digest: str) -> bytes:
    """The content that a digest names.

    Raises:
        IntegrityError: it is missing or altered, or a forged record names no digest at all.
    """
    if not isinstance(digest, str):
        raise IntegrityError(f"{digest!r} names no blob")
    plain, deflated = blob_path(digest, deflated=False), blob_path(digest, deflated=True)
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


def has_blob(files: Files, digest: str) -> bool:
    """Whether there is a file for what a digest names."""
    return any(blob_path(digest, deflated=deflated) in files for deflated in (False, True))


def unpacked(files: Files) -> Files:
    """The same files with the blobs of a pack as files of their own.

    Raises:
        IntegrityError: the pack was altered, or holds a blob that is there as a file, too.
    """
    if PACK not in files:
        return files
    data = files[PACK]
    try:
        inside = {entry.path: data[entry.start : entry.start + entry.size] for entry in pack_entries(data)}
    except ValueError as exc:
        raise IntegrityError(f"{PACK} was altered: {exc}") from exc
    twice = sorted(name for name in inside if name in files)
    if twice:
        raise IntegrityError(f"{twice[0]} is in {PACK}, too (agentforge gc ends what was interrupted)")
    return {**{name: files[name] for name in files if name != PACK}, **inside}


def blobs_check(files: Files, *, named: Set[str], recovered: bool, zlibs: Set[str]) -> Check:
    """Check all blobs.

    Args:
        named: what the records name.
        recovered: the run was interrupted once, or is now; a blob may then stand without the record that was to name it.
        zlibs: those that the run's processes wrote blobs by; with this one alone, each file must be what it writes.
    """
    problems, strange = [], 0
    for digest in sorted(named):
        try:
            content = blob(files, digest)
        except IntegrityError as exc:
            problems.append(exc.message)
            continue
        if _is_as_written(files, digest, content):
            continue
        strange += 1
        if zlibs == {zlib_version()}:
            problems.append(f"blob {digest} was altered: its file is not the one that was written for its content")
    extra = 0
    for name in files:
        match = _BLOB.fullmatch(name)
        if match is None or match[1] + match[2] in named:
            continue
        extra += 1
        if not recovered or _altered(files, match[1] + match[2]):
            problems.append(f"{name} is named by no record")
    left = f", {extra} left by an interrupted write" if extra else ""
    left += f", {strange} deflated by another zlib, so that only their content was compared" if strange else ""
    return told("blobs", problems, held=f"{len(named)} named, all there with the right digest{left}")


def _is_as_written(files: Files, digest: str, content: bytes) -> bool:
    data = stored(content)
    return files.get(blob_path(digest, deflated=data is not content)) == data


def files_check(
    files: Files, *, known: Set[str], quarantined: Mapping[str, str], records: int, ended_well: bool
) -> Check:
    """Check that the folder holds what a run holds and nothing else.

    Args:
        known: paths of the log and the views.
        quarantined: digest ("" = unknown) of each file that was moved aside when the log was opened again.
        records: number of the log's records.
        ended_well: False = a process drives the run or died: temporary files may be there, and what was moved aside for a record
            that was not written then. Who goes on with the run records it.
    """
    problems = [f"{name} is missing" for name in sorted(quarantined) if name not in files]
    for name in files:
        if name in quarantined:
            wanted = quarantined[name]
            if wanted and digest_bytes(files[name]) != wanted:
                problems.append(f"{name} was altered")
        elif not ended_well and (".tmp" in name or _is_unrecorded(name, records)):
            continue
        elif not (name in known or name == LEASE or _BLOB.fullmatch(name)):
            problems.append(f"{name} does not belong to a run")
    return told("files", problems, held=f"{len(files)} files, each accounted for")


def _is_unrecorded(name: str, records: int) -> bool:
    """Whether a file was moved aside for the record behind the last one."""
    found = _ASIDE.fullmatch(name)
    return found is not None and int(found[1]) == records + 1


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
    try:
        return inflated(data)
    except ValueError as exc:
        raise IntegrityError(f"blob {digest} was altered: {exc}") from exc


def _altered(files: Files, digest: str) -> bool:
    try:
        blob(files, digest)
    except IntegrityError:
        return True
    return False
