"""Draw the pictures of ARCHITECTURE.md from the code: floors, stages, rooms, languages. `make architecture` runs it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

from agentforge.languages.catalogue import languages
from agentforge.pipeline.stages import FIX, ORDER, load_stages

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "agentforge"
PAGE = ROOT / "ARCHITECTURE.md"
_GROUND = 2
"""Floors at the bottom that everybody stands on: arrows to them say nothing."""


def page(text: str) -> str:
    """The page with its pictures put in."""
    for name, picture in pictures().items():
        text, count = re.subn(
            rf"(<!-- drawn: {name} -->\n).*?(<!-- /{name} -->)",
            lambda match, picture=picture: f"{match[1]}{picture}\n{match[2]}",
            text,
            flags=re.DOTALL,
        )
        if count != 1:
            raise SystemExit(f"{PAGE.name} has {count} places for the picture {name}")
    return text


def pictures() -> dict[str, str]:
    """Every picture by the name of its marker."""
    return {"floors": _floors(), "stages": _stages(), "rooms": _rooms(), "languages": _languages()}


def layers() -> list[list[str]]:
    """The floors from the top down, as the contract in pyproject.toml has them."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    rows = next(one["layers"] for one in rules if one["type"] == "layers" and one["containers"] == ["agentforge"])
    return [re.findall(r"\w+", row) for row in rows]


def imports_of_packages() -> dict[str, set[str]]:
    """Package -> the packages of this program that its modules import, at the top of a file or inside a function."""
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        own = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for name in _imported(ast.parse(file.read_text("utf-8"))):
            if name.startswith("agentforge."):
                found.setdefault(own, set()).add(name.split(".")[1])
    return {own: names - {own} for own, names in found.items()}


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _floors() -> str:
    floors = layers()
    drawn = [name for floor in floors[:-_GROUND] for name in floor]
    edges = {
        own: {one for one in names if one in drawn} for own, names in imports_of_packages().items() if own in drawn
    }
    lines = ["```mermaid", "flowchart TD"]
    for number, floor in enumerate(floors):
        ground = number >= len(floors) - _GROUND
        lines.append(f'  subgraph floor{number}["{" ".join(floor) if ground else " "}"]')
        lines += [
            "    direction LR",
            *([f"    ground{number}[for everybody]"] if ground else map("    {}".format, floor)),
        ]
        lines.append("  end")
    lines += [f"  {own} --> {one}" for own in drawn for one in sorted(direct(own, edges))]
    return "\n".join([*lines, "```"])


def direct(own: str, edges: Mapping[str, set[str]]) -> set[str]:
    """What a package imports and does not reach through another package that it imports."""
    below = edges.get(own, set())
    return {one for one in below if not any(one in _reached(other, edges) for other in below - {one})}


def _reached(own: str, edges: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [own]
    while waiting:
        for one in edges.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _stages() -> str:
    lines = ["```mermaid", "flowchart LR"]
    for title, names, stages in (("start", ORDER, load_stages()), ("fix", tuple(load_stages(FIX)), load_stages(FIX))):
        lines.append(f"  subgraph {title}")
        for name in names:
            stage = stages[name]
            lines.append(f'    {title}_{name}["{name.upper()}<br/>{stage.produces}"]')
        lines.append("  end")
        lines += [f"  {title}_{before} --> {title}_{after}" for before, after in pairwise(names)]
        for name in names:
            far = [one for one in stages[name].consumes if one in names and names.index(one) < names.index(name) - 1]
            lines += [f"  {title}_{one} -.-> {title}_{name}" for one in far]
    return "\n".join([*lines, "```"])


def _rooms() -> str:
    rows = ["| package | what lives there |", "|---|---|"]
    for folder in (one for floor in layers() for name in floor for one in _packages(PACKAGE / name)):
        path = folder.relative_to(PACKAGE).as_posix()
        rows.append(f"| [`{path}`](src/agentforge/{path}) | {_first_sentence(folder / '__init__.py')} |")
    return "\n".join(rows)


def _packages(folder: Path) -> Iterator[Path]:
    """A package and those inside of it, without folders of data."""
    if (folder / "__init__.py").is_file():
        yield folder
        for inner in sorted(folder.iterdir()):
            if inner.is_dir():
                yield from _packages(inner)


def _first_sentence(file: Path) -> str:
    said = " ".join((ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").split())
    return re.split(r"(?<=[.!?])\s", said)[0].replace("|", "\\|")


def _languages() -> str:
    known = languages()
    offered: Sequence[str] = [
        one.name
        for one in fields(type(known[0]))
        if one.name
        not in ("name", "rank", "find", "run", "runners", "grammars", "manifests", "comment", "examined_test")
    ]
    rows = [f"| | {' | '.join(one.name for one in known)} |", f"|---|{'---|' * len(known)}"]
    rows.append(f"| runners | {' | '.join(', '.join(one.runners) for one in known)} |")
    defaults = {one.name: one.default for one in fields(type(known[0]))}
    for name in offered:
        cells = ["yes" if getattr(one, name) not in (None, (), False, defaults[name]) else "" for one in known]
        rows.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
