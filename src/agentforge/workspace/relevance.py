"""Which files and definitions most likely matter for the words of a request: by path, by name, by content."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from agentforge.frozen import dataclass
from agentforge.workspace import search
from agentforge.workspace.symbols import Symbol, language_of, outline_of, read_source

_MOST_TERMS = 24
_PARSED = 32  # files whose definitions are read; the others are ranked by path and content alone
_MOST_SYMBOLS = 8
_JAVA_TESTS = ("Test.java", "Tests.java", "TestCase.java", "Test.kt", "Tests.kt")
_OTHER_TESTS = (".t", ".bats", "Test.cs", "Tests.cs", "Test.php", "Tests.swift", "Spec.hs")  # Perl, shells, .NET, ...
_IN_PATH, _IN_SYMBOL, _IN_CONTENT, _EXACT = 4.0, 3.0, 1.0, 8.0
_NOT_SOURCE = 0.3
_ENDINGS = "izations ization ations ation ings ing ers ies ions ion ed er es s e y"
_SUFFIXES = tuple(_ENDINGS.split())
_SHORTEST_STEM = 3
_INNER = 5  # letters of a stem that is recognised inside a longer word
_REMEMBERED = 8192  # names; enough for speed, small in memory
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_COMMON = (
    "a about add added adding all also an and any are as at be both but by can change code could create do does each "
    "fix for from function get given has have how if implement in into is it its like make method more must new no not "
    "of on one only or other our out return returns set should so some such support than that the their them then there"
    "these they this to use used uses using value values want was we when where which while will with "
    "without would you"
)
_STOP = frozenset(_COMMON.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A file that may matter.

    Attributes:
        score: larger is likelier; comparable within one ranking only.
        symbols: its definitions that fit the words, the best first; empty when none fits or the file was not parsed.
        is_test: ranked apart from the other files.
    """

    path: str
    score: float
    symbols: tuple[Symbol, ...] = ()
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """What is looked for: stems of words, and identifiers that were written out."""

    stems: tuple[str, ...]
    exact: frozenset[str]


def rank(root: Path, terms: Sequence[str], *, limit: int = 12) -> list[Candidate]:
    """Rank the files of a workspace by the words of a request; one run over the tree.

    Args:
        terms: words, identifiers (`parse_args`, `Circle.area`) or paths; very common words are left out.
        limit: candidates of each sort: at most so many files, followed by at most so many test files.
    """
    query = _query(terms)
    if not query.stems:
        return []
    names = search.files(root)
    content = _content(root, query)
    weights = _weights(query, content, len(names))
    scores = {name: _file_score(name, content.get(name), query, weights) for name in names}
    likely = sorted((name for name in names if scores[name] > 0), key=lambda name: (-scores[name], name))
    sources = [name for name in likely if not is_test_path(name)]
    tests = [name for name in likely if is_test_path(name)]
    ranked: list[Candidate] = []
    for group, parsed in ((sources, _PARSED), (tests, _PARSED // 4)):
        found = [_candidate(root, name, scores[name], query, weights) for name in group[:parsed]]
        ranked += sorted(found, key=lambda candidate: (-candidate.score, candidate.path))[:limit]
    return ranked


def is_test_path(path: str) -> bool:
    """Tell from its path whether a file belongs to the tests."""
    *folders, name = PurePosixPath(path.lower()).parts
    if {"test", "tests", "testing", "spec", "specs", "__tests__"} & set(folders):
        return True
    plain, _, ending = name.partition(".")
    if ending in _SCRIPTS and (plain == "test" or plain.startswith("test-") or plain.endswith("-test")):
        return True
    return (
        plain.startswith("test_")
        or plain.endswith(("_test", "_spec"))
        or plain == "conftest"
        or ".test." in name
        or ".spec." in name
        or name == "tests.rs"
        or path.endswith((*_JAVA_TESTS, *_OTHER_TESTS))
    )


_SCRIPTS = frozenset({"js", "mjs", "cjs", "ts", "mts", "cts"})


@lru_cache(maxsize=_REMEMBERED)
def words(identifier: str) -> tuple[str, ...]:
    """Split an identifier or a path at camel humps, underscores and signs into stems."""
    return tuple(stem(part.lower()) for part in _PARTS.findall(identifier))


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """Cut the ending off an English word, so that parse, parser and parsing are one."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return _single_end(word[: -len(suffix)])
    return word


def _single_end(word: str) -> str:
    """`stopp` (of stopping) is `stop`."""
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeioslz" else word


def _query(terms: Sequence[str]) -> _Query:
    stems: dict[str, None] = {}
    exact: set[str] = set()
    for term in terms:
        pieces = re.findall(r"[A-Za-z0-9_]+", term)
        exact.update(piece.lower() for piece in pieces if "_" in piece.strip("_") or piece[1:] != piece[1:].lower())
        for word in (part for piece in pieces for part in _PARTS.findall(piece)):
            if word.lower() not in _STOP and len(word) >= _SHORTEST_STEM - (not word.islower()) and not word.isdigit():
                stems.setdefault(stem(word.lower()))
    return _Query(stems=tuple(stems)[:_MOST_TERMS], exact=frozenset(exact))


def _content(root: Path, query: _Query) -> Mapping[str, Counter[str]]:
    """How often each stem, and each exact identifier, stands in each file."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    wanted = frozenset(query.stems)
    for path, identifier in search.identifiers(root, query.stems):
        counted[path].update(_hits(identifier, wanted))
        if identifier.lower() in query.exact:
            counted[path][f"={identifier.lower()}"] += 1
    return counted


@lru_cache(maxsize=_REMEMBERED)
def _hits(identifier: str, wanted: frozenset[str]) -> tuple[str, ...]:
    """The stems that a name, a path or a sentence holds; run-together words count too: `progressbar` holds both."""
    lowered = identifier.lower()
    near = sorted(stem for stem in wanted if stem in lowered)  # sums of floats depend on their order
    if not near:
        return ()
    parts = words(identifier)
    return tuple(stem for stem in near if any(stem == part or (len(stem) >= _INNER and stem in part) for part in parts))


def _weights(query: _Query, content: Mapping[str, Counter[str]], total: int) -> dict[str, float]:
    """Rare words tell more: the logarithm of files to files that hold the word."""
    held: Counter[str] = Counter()
    for counts in content.values():
        held.update(counts.keys())
    keys = [*query.stems, *(f"={name}" for name in query.exact)]
    return {key: math.log(1 + (total + 1) / (1 + held[key])) for key in keys}


def _file_score(path: str, counts: Counter[str] | None, query: _Query, weights: Mapping[str, float]) -> float:
    in_path = _hits(path, frozenset(query.stems))
    score = _IN_PATH * sum(weights[word] for word in in_path)
    for key, count in (counts or {}).items():
        factor = _EXACT if key.startswith("=") else _IN_CONTENT
        score += factor * weights[key] * count / (count + 2)  # the tenth hit says less than the first
    return score if language_of(path) else score * _NOT_SOURCE


def _candidate(root: Path, path: str, score: float, query: _Query, weights: Mapping[str, float]) -> Candidate:
    text = read_source(root, path) if language_of(path) else None
    if text is None:
        return Candidate(path=path, score=score, is_test=is_test_path(path))
    fits = [(_symbol_score(symbol, query, weights), symbol) for symbol in outline_of(path, text).symbols]
    best = sorted((item for item in fits if item[0] > 0), key=lambda item: (-item[0], item[1].line))[:_MOST_SYMBOLS]
    extra = _IN_SYMBOL * best[0][0] if best else 0.0
    return Candidate(
        path=path, score=score + extra, symbols=tuple(symbol for _, symbol in best), is_test=is_test_path(path)
    )


def _symbol_score(symbol: Symbol, query: _Query, weights: Mapping[str, float]) -> float:
    """How well a definition's name fits; its documentation counts a little, a local variable less than a function."""
    if symbol.name.lower() in query.exact:
        return 2 * weights[f"={symbol.name.lower()}"]
    wanted = frozenset(query.stems)
    named, said = _hits(symbol.name, wanted), _hits(symbol.doc, wanted)
    score = sum(
        weights[word] * (1.0 if word in named else 0.25) for word in query.stems if word in named or word in said
    )
    return score * (0.5 if symbol.kind == "variable" else 1.0)
