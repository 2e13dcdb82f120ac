"""The catalogue of models that run on this machine. It is data: `catalogue.toml` beside this file.

Where the files of local models are, and what is known of each: taken from the catalogue, from the header, from the disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from agentforge.errors import ModelNotConfigured
from agentforge.frozen import dataclass

_FILE = Path(__file__).with_name("catalogue.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """A model that is known.

    Attributes:
        name: as in `local/NAME`.
        title: for people.
        default: the one that is meant where none is named.
        file: the name under which it is kept.
        url: where it is got from when nobody says otherwise.
        sha256: what the file is, wherever it comes from.
        parts: requirement of the packages that hold it in parts on a Python index, `{}` = the number of the part; "" = none.
        part_bytes: bytes of each part but the last.
        architecture: as the file's header names it.
        context: tokens that it was trained for.
        memory: bytes that a server needs for it at 8,192 tokens.
        profile: the road that stages take with it, as in `ModelSpec.profile`.
        grade: the most that is asked of it before it was graded on this machine: `function` = one function, tests shown.
    """

    name: str
    title: str
    default: bool
    file: str
    url: str
    sha256: str
    bytes: int
    parts: str
    part_bytes: int
    licence: str
    licence_url: str
    architecture: str
    parameters: str
    context: int
    tokenizer: str
    memory: int
    good_for: str
    profile: str
    grade: str


def entries() -> tuple[CatalogueEntry, ...]:
    """All models of the catalogue, the default one first."""
    import tomllib

    value = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    found = [CatalogueEntry(**item) for item in cast("list[dict[str, Any]]", value["model"])]
    return tuple(sorted(found, key=lambda entry: not entry.default))


def default_entry() -> CatalogueEntry:
    """The model that is meant where none is named."""
    return entries()[0]


def find(name: str) -> CatalogueEntry | None:
    """The entry of that name; None where the catalogue has none."""
    return next((entry for entry in entries() if entry.name == name), None)


def entry_of(name: str) -> CatalogueEntry:
    """The entry of that name.

    Raises:
        ModelNotConfigured: the catalogue has none.
    """
    entry = find(name)
    if entry is None:
        names = ", ".join(known.name for known in entries())
        raise ModelNotConfigured(f"the catalogue has no model {name!r}", hint=f"it has {names}; or name a .gguf file")
    return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A model of the catalogue and how much of its file is here.

    Attributes:
        there: bytes of a whole file or of a part of one.
        whole: whether all of it is here.
    """

    entry: CatalogueEntry
    path: Path
    there: int
    whole: bool


def kept_models(folder: Path) -> tuple[Kept, ...]:
    """Every model of the catalogue with what is here of it."""
    return tuple(_kept(entry, folder) for entry in entries())


def file_of(name: str, folder: Path) -> Path:
    """The file of a model: of the catalogue, or of a path that ends in `.gguf`. It need not exist.

    Raises:
        ModelNotConfigured: the name is neither.
    """
    entry = find(name)
    if entry is not None:
        return folder / "models" / entry.file
    if name.endswith(".gguf"):
        return Path(name).expanduser()
    names = ", ".join(known.name for known in entries())
    raise ModelNotConfigured(f"there is no local model {name!r}", hint=f"name one of {names}, or a .gguf file")


def check_there(name: str, folder: Path) -> None:
    """See that the file of a model is here, whole by its size.

    Raises:
        ModelNotConfigured: it is not.
    """
    path, entry = file_of(name, folder), find(name)
    size = path.stat().st_size if path.is_file() else None
    if entry is None and size is None:
        raise ModelNotConfigured(f"local/{name}: there is no file {path}", hint="name a .gguf file that exists")
    if entry is not None and size != entry.bytes:
        missing = "is not on this machine yet" if size is None else f"is not whole: {size} of {entry.bytes} bytes"
        raise ModelNotConfigured(f"local/{name} {missing}", hint=f"agentforge model pull {name}")


def part_of(path: Path) -> Path:
    """The file into which a model is got; it becomes the model's own when it was verified."""
    return path.with_name(f"{path.name}.part")


def _kept(entry: CatalogueEntry, folder: Path) -> Kept:
    path = folder / "models" / entry.file
    found = next((file for file in (path, part_of(path)) if file.is_file()), None)
    there = found.stat().st_size if found is not None else 0
    return Kept(entry=entry, path=path, there=there, whole=found == path and there == entry.bytes)
