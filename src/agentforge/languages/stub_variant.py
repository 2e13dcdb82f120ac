"""One set of stand-ins for the symbols of a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Source = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One set of wrong implementations.

    Attributes:
        name: raises, wrong, none, empty or other.
        hard: no honest target passes; otherwise only a suite of which every target passes is hollow.
        files: path -> new content.
    """

    name: str
    hard: bool
    files: Mapping[str, str]
