"""The tiers of the tests, from the table `tests/tiers.toml`: what `make test` runs, and what only `make test-all` does."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

Tier = Literal["fast", "full", "chaos"]
TABLE = Path(__file__).parents[1] / "tiers.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """Which tier a test is in.

    Attributes:
        rows: the tier of a folder, of a file, or of a test (`FILE::NAME`, with all its parameters).
        ways: a test of the fast tier for every kind of way through the whole program.
    """

    rows: Mapping[str, Tier]
    ways: Mapping[str, str]

    def of(self, nodeid: str) -> Tier:
        """Name the tier of a test: the longest row that fits it decides; a test that no row names is in the full tier."""
        return next((self.rows[place] for place in _places(nodeid) if place in self.rows), "full")

    def is_all_of(self, tier: Tier, path: str) -> bool:
        """Tell whether every test of a file is in one tier, so that another one need not read it."""
        inside = (other for place, other in self.rows.items() if place.startswith(f"{path}::"))
        return self.of(path) == tier and all(other == tier for other in inside)


def read_tiers(path: Path = TABLE) -> Tiers:
    """Read the table.

    Raises:
        ValueError: a row stands in both tiers.
    """
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    twice = sorted(set(told["fast"]) & set(told["full"]))
    if twice:
        raise ValueError(f"{path.name} names {', '.join(twice)} in both tiers")
    rows: dict[str, Tier] = {**dict.fromkeys(told["fast"], "fast"), **dict.fromkeys(told["full"], "full")}
    return Tiers(rows=rows, ways=told["ways"])


def mark(items: list[pytest.Item], tiers: Tiers) -> None:
    """Give every test the marker of its tier; one that is marked `chaos` already stays in that tier alone."""
    for item in items:
        if item.get_closest_marker("chaos") is None:
            item.add_marker(tiers.of(item.nodeid))


def _places(nodeid: str) -> Iterator[str]:
    """The test with its parameters, without them, its file, and the folders above, longest first."""
    yield nodeid
    bare = nodeid.partition("[")[0]
    yield bare
    place = bare.partition("::")[0]
    while place:
        yield place
        place = place.rpartition("/")[0]
