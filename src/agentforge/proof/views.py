"""The views of a run: each is what the log says; those of another program version are what that program left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from agentforge.canonical import digest_bytes
from agentforge.events.storage.view_mark import (
    MARK,
    SEAL,
    WRITER,
    is_writer,
    mark_bytes,
    read_mark,
    views_seal,
    views_writer,
)
from agentforge.frozen import dataclass
from agentforge.proof.chain import LOG
from agentforge.proof.contents import LEASE, files_check
from agentforge.proof.files import Files
from agentforge.proof.report import Check, told

_ACTIONS = "actions.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the log tells of the files beside it.

    Attributes:
        hashes: of the records, in order.
        writers: programs that wrote records, as they name themselves in the mark (view_mark.writers_of).
        quarantined: digest ("" = unknown) of each file that was moved aside when the log was opened again.
        ended_well: False = a process drives the run or died: views may lag behind.
    """

    hashes: Sequence[str]
    writers: Set[str]
    quarantined: Mapping[str, str]
    ended_well: bool


Earlier = Callable[[int], Mapping[str, Sequence[bytes | None]]]
"""What each view held after each record from one on; None = it was not there yet."""


def views_checks(
    files: Files, wanted: Mapping[str, bytes], written: Written, *, earlier: Earlier | None = None
) -> list[Check]:
    """Compare the views with those that this program makes of the log; the files must be log, blobs and views."""
    mark = read_mark(files.get(MARK, b"")) or {}
    other = str(mark.get(WRITER, views_writer())) != views_writer()
    found = _found(files, written) if other else {}
    belonging = files_check(
        files,
        known={LOG, MARK, *wanted, *found},
        quarantined=written.quarantined,
        records=len(written.hashes),
        ended_well=written.ended_well,
    )
    if not written.ended_well:
        if earlier is not None and not other:
            return [belonging, _lagging(files, mark, earlier)]
        detail = "not compared: they may lag behind the log until the run is opened again (agentforge resume)"
        return [belonging, Check(name="views", ok=True, detail=detail)]
    return [belonging, _of_another(files, mark, found, wanted, written) if other else _of_this(files, mark, wanted)]


def _of_this(files: Files, mark: Mapping[str, object], wanted: Mapping[str, bytes]) -> Check:
    if mark and WRITER not in mark:  # of a time when marks did not say who wrote them
        whole = read_mark(wanted[MARK]) or {}
        wanted = {**wanted, MARK: mark_bytes({key: whole[key] for key in whole if key not in (WRITER, SEAL)})}
    problems = [f"{name} is missing" for name in wanted if name not in files]
    problems += [f"{name} is not what the log says" for name in wanted if name in files and files[name] != wanted[name]]
    return told("views", problems, held=f"{len(wanted)} files, each as the log has it")


def _lagging(files: Files, mark: Mapping[str, object], earlier: Earlier) -> Check:
    """Of a process that died: each view is what the log said after some record from that on which the mark names."""
    records = mark.get("records")
    held = earlier(records if isinstance(records, int) else 0)
    problems = [f"{name} is not what the log says" for name in held if not _was(files.get(name), held[name], name)]
    if not held and mark:
        problems.append(f"{MARK} is further than the log")
    return told("views", problems, held="each as the log had it at some record, since a process drives the run or died")


def _was(found: bytes | None, held: Sequence[bytes | None], name: str) -> bool:
    """Whether a view held that; entries are added to the file of the actions, and the last may be half written."""
    if found in held:
        return True
    if name != _ACTIONS or not found:
        return False
    return any(content.startswith(found) for content in held if content is not None)


def _of_another(
    files: Files, mark: Mapping[str, object], found: Mapping[str, bytes], wanted: Mapping[str, bytes], written: Written
) -> Check:
    writer = str(mark.get(WRITER))
    problems = []
    if files[MARK] != mark_bytes(mark) or mark.get("head") != written.hashes[-1]:
        problems.append(f"{MARK} is not what a program wrote at the end of this log")
    if not is_writer(writer, written.writers):
        problems.append(f"{MARK} names {writer!r}, which wrote no record")
    if mark.get(SEAL) != views_seal(found, mark):
        problems.append(f"a view was altered, added or removed after {writer} let go of the run")
    differing = sum(found.get(name) != content for name, content in wanted.items() if name != MARK)
    words = (
        f"{differing} of them would be written differently" if differing else "all of them would be written the same"
    )
    held = f"{len(found)} files, unaltered since {writer} wrote them; rebuilt by {views_writer()}, {words}"
    return told("views", problems, held=held)


def _found(files: Files, written: Written) -> dict[str, bytes]:
    """All files but those that are something else than a view."""
    return {
        name: files[name]
        for name in files
        if name not in (LOG, LEASE, MARK) and not name.startswith("blobs/") and not _is_quarantine(files, name, written)
    }


def _is_quarantine(files: Files, name: str, written: Written) -> bool:
    return name in written.quarantined and written.quarantined[name] in ("", digest_bytes(files[name]))
