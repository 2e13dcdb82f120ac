"""Draw docs/pictures/architecture.svg: the packages in groups, and which group uses which. `make architecture` runs it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from architecture import direct, imports_of_packages, layers

TARGET = Path(__file__).parents[1] / "docs" / "pictures" / "architecture.svg"
GROUPS = {
    "What people and programs use": "cli tui dashboard acp_server mcp_server fleet evals",
    "Use cases": "app",
    "The pipeline: a request becomes a branch": "pipeline",
    "The conversation: you decide": "session",
    "One agent loop and its tools": "agent toolbox tools guest",
    "Measuring": "verification suite languages testing conformance python_refactoring",
    "The log, and what is read from it": "store proof views context",
    "The outside world": "models local workspace hooks skills forges notify telemetry",
    "What can happen, and what must hold": "events contracts",
}
GROUND = "config safety"
"""Settings and the safety of texts, which nearly every group uses; with the two lowest floors they are not drawn."""
_WIDTH, _BOX, _ROW = 860, 410, 88


def overview(groups: Mapping[str, str]) -> str:
    """Draw the groups from those that nobody imports down to those that import nobody.

    Raises:
        SystemExit: a package stands in no group.
    """
    group_of = {package: group for group, packages in groups.items() for package in packages.split()}
    missing = {name for floor in layers()[:-2] for name in floor} - set(group_of) - set(GROUND.split())
    if missing:
        raise SystemExit(f"scripts/overview.py has no group for {', '.join(sorted(missing))}")
    edges: dict[str, set[str]] = {group: set() for group in groups}
    for own, names in imports_of_packages().items():
        if own in group_of:
            edges[group_of[own]] |= {group_of[name] for name in names if name in group_of} - {group_of[own]}
    arrows = {own: direct(own, edges) for own in groups}
    places = _places(arrows)
    parts = [_arrow(places[own], places[one]) for own in groups for one in sorted(arrows[own])]
    parts += [_box(group, groups[group], *places[group]) for group in groups]
    height = max(top for _, top in places.values()) + _ROW - 20
    style = "svg{color:#334155}@media (prefers-color-scheme:dark){svg{color:#e2e8f0}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="system-ui,sans-serif" '
        f'font-size="13" text-anchor="middle" role="img" aria-label="The packages of AgentForge"><style>{style}</style>\n'
        '<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#64748b"/></marker></defs>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _places(arrows: Mapping[str, set[str]]) -> dict[str, tuple[int, int]]:
    """The middle of each group's box and its top: a row lower than the lowest of those that use it."""
    rows: dict[str, int] = {}

    def row(group: str) -> int:
        if group not in rows:
            rows[group] = 1 + max((row(user) for user, used in arrows.items() if group in used), default=-1)
        return rows[group]

    lines: dict[int, list[str]] = {}
    for group in arrows:
        lines.setdefault(row(group), []).append(group)
    return {
        group: (round(_WIDTH * (number + 0.5) / len(line)), 10 + _ROW * top)
        for top, line in lines.items()
        for number, group in enumerate(line)
    }


def _box(group: str, packages: str, middle: int, top: int) -> str:
    return (
        f'<rect x="{middle - _BOX // 2}" y="{top}" width="{_BOX}" height="54" rx="8" fill="#2563eb" fill-opacity="0.12" '
        f'stroke="#2563eb"/><text x="{middle}" y="{top + 23}" font-weight="600" fill="currentColor">{escape(group)}</text>'
        f'<text x="{middle}" y="{top + 42}" font-size="10.5" fill="currentColor">{" · ".join(packages.split())}</text>'
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    line = f"M{start[0]} {start[1] + 54}L{end[0]} {end[1] - 2}"
    return f'<path d="{line}" stroke="#64748b" stroke-width="1.5" marker-end="url(#a)"/>'


if __name__ == "__main__":
    TARGET.write_text(overview(GROUPS), "utf-8")
