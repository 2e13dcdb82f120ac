"""What holds a trail fast from outside: the commit's trailers, the git note, the head file. A cut tail shows against them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from agentforge.errors import IntegrityError
from agentforge.frozen import dataclass
from agentforge.proof.envelope import write_envelopes
from agentforge.proof.report import Check, told

NOTES_REF = "refs/notes/agentforge"

_TRAILER = re.compile(r"^AgentForge-Trail: ([0-9a-f]{64}) ([0-9]+)$", re.MULTILINE)
_TASK = re.compile(r"^AgentForge-Task: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The trail's record number `records` had the hash `head`, says `source`."""

    source: str
    head: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit object, read and hashed here."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    message: str

    @property
    def task(self) -> str:
        """The task that its trailer names, "" = none."""
        found = _TASK.findall(self.message)
        return str(found[-1]) if found else ""

    @property
    def anchor(self) -> Anchor | None:
        """The trail up to the commit, by its trailer."""
        found = _TRAILER.findall(self.message)
        return Anchor(source=f"commit {self.oid[:12]}", head=found[-1][0], records=int(found[-1][1])) if found else None


def read_commit(raw: bytes, *, oid: str) -> Commit:
    """Read a commit object and check that it is the one that `oid` names.

    Raises:
        IntegrityError: it is another one.
    """
    algorithm = hashlib.sha1 if len(oid) == 40 else hashlib.sha256
    if algorithm(b"commit %d\0" % len(raw) + raw).hexdigest() != oid:
        raise IntegrityError(f"the object of commit {oid} was altered")
    head, _, message = raw.partition(b"\n\n")
    rows = [line.split(b" ", 1) for line in head.split(b"\n")]
    tree = next((value.decode("ascii") for name, *rest in rows for value in rest if name == b"tree"), "")
    parents = tuple(value.decode("ascii") for name, *rest in rows for value in rest if name == b"parent")
    return Commit(oid=oid, tree=tree, parents=parents, message=message.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the git note of a delivered commit says."""

    task: str
    commit: str
    tree: str
    anchor: Anchor
    envelopes: bytes


def note_text(*, task: str, commit: str, tree: str, head: str, records: int, envelopes: bytes) -> str:
    """Write the note of a delivered commit."""
    value = {
        "agentforge": 1,
        "task": task,
        "commit": commit,
        "tree": tree,
        "trail": {"head": head, "records": records},
        "attestation": [json.loads(line) for line in envelopes.splitlines()],
    }
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def read_note(text: str) -> Note:
    """Read a note.

    Raises:
        IntegrityError: it is not one of ours.
    """
    try:
        value = json.loads(text)
        trail: Mapping[str, object] = value["trail"]
        anchor = Anchor(source="git note", head=str(trail["head"]), records=int(str(trail["records"])))
        rows: Sequence[Mapping[str, object]] = value["attestation"]
        return Note(
            task=str(value["task"]),
            commit=str(value["commit"]),
            tree=str(value["tree"]),
            anchor=anchor,
            envelopes=write_envelopes(rows),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise IntegrityError(f"the git note cannot be read: {exc}", hint=f"fetch {NOTES_REF} again") from exc


def note_check(note: Note, *, about: tuple[str, str, str], envelopes: bytes) -> Check:
    """Hold a note against the run that it is about.

    Args:
        about: task, commit and tree of the delivery.
        envelopes: as the run keeps them.
    """
    problems = []
    if (note.task, note.commit, note.tree) != about:
        problems.append("the git note is about another delivery")
    if note.envelopes != envelopes:
        problems.append("the git note holds other envelopes than the run")
    return told("note", problems, held="the git note is about this delivery, and holds its envelopes")


def anchors_check(anchors: Sequence[Anchor], hashes: Sequence[str]) -> Check:
    """Hold a trail against its anchors.

    Args:
        hashes: of the records, in order.
    """
    problems = []
    for anchor in anchors:
        if anchor.records > len(hashes):
            problems.append(
                f"{anchor.source} saw {anchor.records} records, {len(hashes)} are left: the tail was cut off"
            )
        elif anchor.records < 1 or hashes[anchor.records - 1] != anchor.head:
            problems.append(f"{anchor.source} saw another record {anchor.records}: the trail was rewritten")
    if not anchors:
        return Check(
            name="anchors", ok=True, detail="no anchor outside the folder is at hand: a cut tail would not show"
        )
    last = max(anchor.records for anchor in anchors)
    held = ", ".join(f"{anchor.source} at record {anchor.records}" for anchor in anchors)
    free = len(hashes) - last
    return told("anchors", problems, held=held + (f"; the last {free} records are not anchored" if free > 0 else ""))
