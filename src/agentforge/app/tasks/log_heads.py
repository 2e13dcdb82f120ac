"""The head files: how far each trail had come when its last process ended, kept outside of the run's own folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.canonical import canonical_bytes, digest_bytes
from agentforge.config.paths import data_dir
from agentforge.proof.anchors import Anchor
from agentforge.store.log.files import replace_file


def keep_head(environ: Mapping[str, str], folder: Path, *, head: str, records: int) -> None:
    """Remember the head of the run in `folder`.

    Raises:
        StorageError: the data folder does not take it.
    """

    replace_file(_path(environ, folder), canonical_bytes({"head": head, "records": records}) + b"\n")


def kept_head(environ: Mapping[str, str], folder: Path) -> Anchor | None:
    """The remembered head of the run in `folder`; None when there is none that can be read."""
    try:
        value = json.loads(_path(environ, folder).read_bytes())
        return Anchor(source="head file", head=str(value["head"]), records=int(value["records"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def drop_head(environ: Mapping[str, str], folder: Path) -> None:
    """Forget the run in `folder`."""
    _path(environ, folder).unlink(missing_ok=True)


def _path(environ: Mapping[str, str], folder: Path) -> Path:
    place = folder.resolve()
    return data_dir(environ) / "heads" / digest_bytes(os.fsencode(place.parent))[:16] / f"{place.name}.json"
