"""A model on this machine: the catalogue of known ones, getting a file, and the server that answers from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.local.catalogue import (
        CatalogueEntry,
        Kept,
        check_there,
        default_entry,
        entry_of,
        file_of,
        find,
        kept_models,
    )
    from agentforge.local.places import PlaceAnswer, places_of, pull_from
    from agentforge.local.shared_server import Wanted, all_living, leased, living, stop_all, wait_for_end
    from agentforge.local.sources import Source, source_of
else:
    __getattr__ = front(
        __name__,
        {
            "catalogue": (
                "CatalogueEntry",
                "Kept",
                "check_there",
                "default_entry",
                "entry_of",
                "file_of",
                "find",
                "kept_models",
            ),
            "places": ("PlaceAnswer", "places_of", "pull_from"),
            "shared_server": ("Wanted", "all_living", "leased", "living", "stop_all", "wait_for_end"),
            "sources": ("Source", "source_of"),
        },
    )

__all__ = [
    "CatalogueEntry",
    "Kept",
    "PlaceAnswer",
    "Source",
    "Wanted",
    "all_living",
    "check_there",
    "default_entry",
    "entry_of",
    "file_of",
    "find",
    "kept_models",
    "leased",
    "living",
    "places_of",
    "pull_from",
    "source_of",
    "stop_all",
    "wait_for_end",
]
