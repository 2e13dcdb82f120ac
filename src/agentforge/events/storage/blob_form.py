"""How blobs lie in a run's folder: each in a file of its own, the longer ones deflated, or all of a finished run in one pack.

One content has one form (for one zlib), so that a changed byte shows even where it would inflate to the same content.

Which blobs an event names. An event that names a blob in a new field is added here, so that proof and retention see it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping

from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.frozen import dataclass

PACK = "blobs/pack"
"""Where the pack of a finished run lies."""

ZLIB = "zlib"
"""Under this name the versions of a run tell by which zlib its blobs were deflated."""

_DEFLATED_OVER = 512
_DEFLATE_LEVEL = 1  # a third of the time of the default for a few per cent of the size
_LARGEST = 1 << 30
_FORMAT = b"agentforge-pack/1"
_HEAD = rb"agentforge-pack/1 (0|[1-9][0-9]{0,8})\n"
_ROW = rb"([0-9a-f]{64}) (0|[1-9][0-9]{0,11}) (plain|deflated)\n"
_LONGEST_ROW = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Where the stored form of one blob lies in a pack.

    Attributes:
        start: offset of its first byte.
        size: bytes.
    """

    digest: str
    start: int
    size: int
    deflated: bool

    @property
    def path(self) -> str:
        """The path that it has as a file of its own."""
        return blob_path(self.digest, deflated=self.deflated)


def zlib_version() -> str:
    """The zlib that deflates now."""
    return zlib.ZLIB_RUNTIME_VERSION


def blob_path(digest: str, *, deflated: bool) -> str:
    """The path of a blob in the run's folder."""
    return f"blobs/{digest[:2]}/{digest[2:]}{'.z' if deflated else ''}"


def is_deflated(content: bytes) -> bool:
    """Whether a content is stored deflated: what is short is not."""
    return len(content) > _DEFLATED_OVER


def stored(content: bytes) -> bytes:
    """The bytes by which a content is stored."""
    return zlib.compress(content, _DEFLATE_LEVEL) if is_deflated(content) else content


def inflated(data: bytes) -> bytes:
    """The content of a deflated form.

    Raises:
        ValueError: it is damaged, or goes on behind its end.
    """
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, _LARGEST)
    except zlib.error as exc:
        raise ValueError(str(exc)) from exc
    if stream.unused_data or not stream.eof:
        raise ValueError("its end is not where it was")
    return content


def packed(blobs: Mapping[str, bytes]) -> bytes:
    """Put stored forms (by the paths that they have as files) into one: a table in the order of digests, then the bytes."""
    rows = sorted((_digest(path), path) for path in blobs)
    table = [
        f"{digest} {len(blobs[path])} {'deflated' if path.endswith('.z') else 'plain'}\n".encode()
        for digest, path in rows
    ]
    return b"".join([b"%s %d\n" % (_FORMAT, len(rows)), *table, *(blobs[path] for _, path in rows)])


def pack_entries(data: bytes, *, size: int | None = None) -> Iterator[Entry]:
    """Read the table of a pack.

    Args:
        data: the pack, or a beginning that holds its table (see `table_bytes`).
        size: of the whole pack, None = `data` is all of it.
    Raises:
        ValueError: it is no pack, or one that was altered.
    """
    head = re.match(_HEAD, data)
    if head is None:
        raise ValueError("it is no pack")
    rows: list[re.Match[bytes]] = []
    at = head.end()
    for _ in range(int(head[1])):
        row = re.compile(_ROW).match(data, at)
        if row is None or (rows and row[1] <= rows[-1][1]):
            raise ValueError("its table was altered")
        rows.append(row)
        at = row.end()
    if at + sum(int(row[2]) for row in rows) != (len(data) if size is None else size):
        raise ValueError("its end is not where it was")
    for row in rows:
        length = int(row[2])
        yield Entry(digest=row[1].decode("ascii"), start=at, size=length, deflated=row[3] == b"deflated")
        at += length


def table_bytes(beginning: bytes) -> int:
    """How much of a pack holds its table, at most, by the first bytes of it.

    Raises:
        ValueError: it is no pack.
    """
    head = re.match(_HEAD, beginning)
    if head is None:
        raise ValueError("it is no pack")
    return head.end() + int(head[1]) * _LONGEST_ROW


def _digest(path: str) -> str:
    return path.removeprefix("blobs/").removesuffix(".z").replace("/", "")


def blobs_named(event: Event) -> tuple[str, ...]:
    """Digests of the blobs that must be there for `event` to be worth what it says."""
    found: list[object] = []
    if isinstance(event, kinds.RunStarted):
        tests = event.digests.get("tests")
        found += tests.values() if isinstance(tests, Mapping) else ()
        found += (row.get("digest") for row in event.added)
    elif isinstance(event, kinds.RunResumed):
        found += (row.get("digest") for row in event.added)
    elif isinstance(event, kinds.StageStarted):
        found.append(event.material)
    elif isinstance(event, kinds.Examined):
        found.append(event.source)
    elif isinstance(event, kinds.ModelCalled):
        found.append(event.request)
    elif isinstance(event, kinds.ToolStarted):
        found += (item for item in event.touches.values() if not str(item).startswith("withheld:"))
    elif isinstance(event, kinds.ToolFinished):
        found += [event.output, *(row.get("digest") for row in event.pictures)]
    elif isinstance(event, kinds.UserSaid | kinds.UserSteered):
        found += (row.get("digest") for row in event.pictures)
    elif isinstance(event, kinds.StepFinished):
        found.append(event.patch)
    elif isinstance(event, kinds.FactsGathered):
        repairs = event.facts.get("repairs")
        found += [event.evidence, *(repairs.values() if isinstance(repairs, Mapping) else ())]
    elif isinstance(event, kinds.StageVerified):
        found.append(event.contract_document)
    elif isinstance(event, kinds.Attested):
        found.append(event.envelopes)
    return tuple(str(item) for item in found if item)
