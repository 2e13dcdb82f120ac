"""A map of a repository's sources within a room: every likely file with the names of its definitions, the likeliest whole."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.tokens import count_tokens
from agentforge.workspace.code.relevance import RelevantFile, is_beside, is_test_path
from agentforge.workspace.code.symbols import Symbol, language_of, of_product, outline_of, read_source
from agentforge.workspace.files import search
from agentforge.workspace.files.generated import is_generated, looks_generated

_FOR_PATHS = 0.4  # share of the room that the names of files may take
_OF_ONE = 0.5  # share of what is left that one file's definitions may take at first
_READ = 150  # files whose definitions are read
_MORE = " ..."
_ROW = 12  # constants of one class or module that are worth naming
_TABLE = 3  # lines beyond the first; a constant that has so many is a table
_LEAST = 12  # tokens; less shows no name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A file of the map; `fitting` holds the places of its definitions in the order in which they are shown."""

    path: str
    symbols: tuple[Symbol, ...] = ()
    fitting: tuple[int, ...] = ()


def sketch(
    root: Path, ranked: Sequence[RelevantFile], *, room: int, likely: Iterable[Symbol] = (), tree: str = ""
) -> str:
    """Draw the map: a line for each file, its path and `name line` of what it defines, members in brackets.

    Args:
        ranked: the files that likely matter, the best first; all other sources follow, the larger ones first.
        room: tokens that the text may cost.
        likely: definitions that likely matter, the best first; those that fit the request by their own words follow.
        tree: that the workspace is known to hold, "" = not known.
    """
    paths = _ordered(root, ranked, tree)
    named, left = _named(paths, room)
    best: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in (*likely, *(symbol for candidate in ranked for symbol in candidate.symbols)):
        best[symbol.path].append(symbol)
    entries = [_entry(root, path, best[path]) for path in named[:_READ]]
    shown: dict[str, tuple[int, ...]] = {}
    for entry, share in [*((one, _OF_ONE) for one in entries), *((one, 1.0) for one in entries)]:
        before = shown.get(entry.path, ())
        spent = count_tokens(_drawn(entry, before))
        room_here = int((room - left) * share) + spent if share < 1 else room - left + spent
        chosen = _chosen(entry, room_here) if len(before) < len(entry.symbols) else before
        if len(chosen) > len(before):
            shown[entry.path] = chosen
            left += count_tokens(_drawn(entry, chosen)) - spent
    known = {entry.path: entry for entry in entries}
    lines = [path + (_drawn(known[path], shown[path]) if path in shown else "") for path in named]
    return "\n".join([*lines, *_folded(paths[len(named) :])])


def _ordered(root: Path, ranked: Sequence[RelevantFile], tree: str) -> list[str]:
    """The sources, the likeliest first, then by size; documentation and examples behind them; tests are no part of it."""
    first = [candidate.path for candidate in ranked if not candidate.is_test and language_of(candidate.path)]
    seen = set(first)
    sizes = _sources(root, tree)
    others = [path for path in sizes if path not in seen]
    rest = sorted(others, key=lambda path: (-sizes[path], path))
    return sorted([*first, *rest], key=is_beside)


def _sources(root: Path, tree: str) -> Mapping[str, int]:
    """The sizes of all sources that are no tests and were not generated."""
    return _sources_of(root, tree) if tree else _sizes(root, tree)


@lru_cache(maxsize=2)
def _sources_of(root: Path, tree: str) -> Mapping[str, int]:
    return _sizes(root, tree)


def _sizes(root: Path, tree: str) -> Mapping[str, int]:
    names = (name for name in search.files(root, tree=tree) if language_of(name))
    return {name: _size(f"{root}/{name}") for name in names if not is_test_path(name) and not is_generated(name)}


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 # a Path for each of 50,000 files is slow
    except OSError:
        return 0


def _named(paths: Sequence[str], room: int) -> tuple[list[str], int]:
    """The paths that have a line of their own, and what these cost."""
    spent = 0
    named: list[str] = []
    for path in paths:
        spent += count_tokens(path) + 1
        if spent > room * _FOR_PATHS and named:
            return named, spent - count_tokens(path) - 1 + 2 * _LEAST
        named.append(path)
    return named, spent


def _folded(paths: Sequence[str]) -> list[str]:
    """One line that says how many files have none, by folder."""
    if not paths:
        return []
    folders: dict[str, int] = {}
    for path in paths:
        folder = path.rpartition("/")[0] or "."
        folders[folder] = folders.get(folder, 0) + 1
    most = sorted(folders, key=lambda folder: (-folders[folder], folder))[:4]
    return [f"and {len(paths)} more files: {', '.join(f'{folder}/ {folders[folder]}' for folder in most)}"]


def _entry(root: Path, path: str, best: Sequence[Symbol]) -> _Entry:
    text = read_source(root, path)
    if text is None or looks_generated(text):
        return _Entry(path=path)
    symbols = tuple(_telling(of_product(outline_of(path, text).symbols), best))
    places = {(symbol.qualified, symbol.line): place for place, symbol in enumerate(symbols)}
    found = dict.fromkeys(places.get((one.qualified, one.line), -1) for one in best)
    fitting = [place for place in found if place >= 0]
    rest = sorted(set(range(len(symbols))) - set(fitting), key=lambda place: (_weight(symbols[place]), place))
    return _Entry(path=path, symbols=symbols, fitting=(*fitting, *rest))


def _telling(symbols: Sequence[Symbol], fitting: Sequence[Symbol]) -> list[Symbol]:
    """Without the members of long rows of constants, but for tables and those that fit the request."""
    constants = Counter(symbol.parent for symbol in symbols if symbol.kind == "variable")
    kept = {(symbol.qualified, symbol.line) for symbol in fitting}
    return [
        symbol
        for symbol in symbols
        if symbol.kind != "variable"
        or constants[symbol.parent] <= _ROW
        or symbol.end_line - symbol.line >= _TABLE
        or (symbol.qualified, symbol.line) in kept
    ]


def _weight(symbol: Symbol) -> int:
    """Long functions are likelier to be changed than short ones, a constant least."""
    return -min(symbol.end_line - symbol.line, 60) + (30 if symbol.kind == "variable" else 0)


def _chosen(entry: _Entry, room: int) -> tuple[int, ...]:
    """As many definitions as the room holds, the best first."""
    if room < _LEAST:
        return ()
    costs, spent = {place: count_tokens(f" {entry.symbols[place].name} 1") + 1 for place in entry.fitting}, 4
    kept = []
    for place in entry.fitting:
        spent += costs[place]
        if spent > room:
            break
        kept.append(place)
    while kept and count_tokens(_drawn(entry, kept)) > room:  # brackets and the names around members cost, too
        del kept[-1 - len(kept) // 20 :]
    return tuple(kept)


def _drawn(entry: _Entry, places: Sequence[int]) -> str:
    """`: A 3 (m 5, n 9), f 20`: definitions in the order of the file; members stand with what they belong to."""
    if not places:
        return ""
    groups: dict[str, list[str]] = {}
    heads: dict[str, str] = {}
    for place in sorted(places, key=lambda place: (entry.symbols[place].line, place)):
        symbol = entry.symbols[place]
        if symbol.parent:
            groups.setdefault(symbol.parent, []).append(f"{symbol.name} {symbol.line}")
        else:
            heads[symbol.qualified] = f"{symbol.name} {symbol.line}"
            groups.setdefault(symbol.qualified, [])
    parts = [
        f"{heads.get(name, name)}{' (' + ', '.join(inner) + ')' if inner else ''}" for name, inner in groups.items()
    ]
    return f": {', '.join(parts)}{_MORE if len(places) < len(entry.symbols) else ''}"
