"""What uv.lock says of the packages that a user can get: read once, for the licences and for the SBOM."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OURS = "agentforge-pipeline"


@dataclass(frozen=True, kw_only=True)
class Locked:
    """One package.

    Attributes:
        hashes: SHA-256 of each file of it that the lock names, sorted.
        needs: names of the packages that it needs, sorted.
        by: which of our extras bring it; "" = the base.
    """

    name: str
    version: str
    hashes: tuple[str, ...]
    needs: tuple[str, ...]
    by: tuple[str, ...]


def locked(lock: Path = ROOT / "uv.lock") -> list[Locked]:
    """Every package that the base or an extra brings, by name; what only development needs is left out."""
    rows = {row["name"]: row for row in tomllib.loads(lock.read_text("utf-8"))["package"]}
    ours = rows[OURS]
    ways = {"": ours.get("dependencies", []), **ours.get("optional-dependencies", {})}
    brought: dict[str, set[str]] = {}
    for extra, needs in ways.items():
        if extra not in ("all", "dev"):
            for name in _reached(needs, rows):
                brought.setdefault(name, set()).add(extra)
    return [_one(rows[name], tuple(sorted(by))) for name, by in sorted(brought.items()) if name != OURS]


def direct(lock: Path = ROOT / "uv.lock") -> list[str]:
    """The packages that we name ourselves, base and extras, sorted."""
    ours = next(row for row in tomllib.loads(lock.read_text("utf-8"))["package"] if row["name"] == OURS)
    extras = ours.get("optional-dependencies", {}).items()
    ways = [ours.get("dependencies", []), *(needs for extra, needs in extras if extra != "dev")]
    return sorted({need["name"] for way in ways for need in way} - {OURS})


def _reached(needs: list[Mapping[str, Any]], rows: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The packages that these needs lead to, extras of packages included."""
    todo, seen = [(need["name"], tuple(need.get("extra", ()))) for need in needs], set()
    while todo:
        step = todo.pop()
        if step in seen:
            continue
        seen.add(step)
        todo += list(_needs(rows[step[0]], step[1]))
    return {name for name, _ in seen}


def _needs(row: Mapping[str, Any], extras: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    chosen = [row.get("optional-dependencies", {}).get(extra, []) for extra in extras]
    for needs in (row.get("dependencies", []), *chosen):
        yield from ((need["name"], tuple(need.get("extra", ()))) for need in needs)


def _one(row: Mapping[str, Any], by: tuple[str, ...]) -> Locked:
    files = [row["sdist"]] if "sdist" in row else []
    hashes = {str(file["hash"]).removeprefix("sha256:") for file in [*files, *row.get("wheels", [])] if "hash" in file}
    needs = sorted({need["name"] for need in row.get("dependencies", [])})
    return Locked(name=row["name"], version=row["version"], hashes=tuple(sorted(hashes)), needs=tuple(needs), by=by)
