"""Which files and definitions most likely matter for the words of a request: by path, by name, by content."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.workspace.code.pointed_places import holding, pointed_places
from agentforge.workspace.code.special_methods import BUILT_IN, special_methods
from agentforge.workspace.code.stems import PARTS, REMEMBERED, SHORTEST, stem, words
from agentforge.workspace.code.symbols import Symbol, language_of, of_product, outline_of, read_source
from agentforge.workspace.files import search
from agentforge.workspace.files.generated import is_generated, looks_generated
from agentforge.workspace.files.pointers import pointers_of

_MOST_TERMS = 48
_MOST_NAMES = 1 << 17
"""Paths of which it is remembered whether they are tests: a stage asks of all paths of a repository, several times."""
_MOST_TEXT = 20_000  # letters of a request that are read
_PARSED = 48  # files whose definitions are read; the others are ranked by path and content alone
_MOST_SYMBOLS = 24
_JAVA_TESTS = ("Test.java", "Tests.java", "TestCase.java", "Test.kt", "Tests.kt")
_OTHER_TESTS = (".t", ".bats", "Test.cs", "Tests.cs", "Test.php", "Tests.swift", "Spec.hs")  # Perl, shells, .NET, ...
_IN_PATH, _IN_SYMBOL, _IN_CONTENT, _EXACT = 4.0, 3.0, 1.0, 8.0
_NOT_SOURCE = 0.3
BESIDE = 0.3
"""What a file of documentation, an example or a script of the build counts."""
_BESIDE_NAMES = "doc docs documentation example examples bench benchmark benchmarks samples demo demos"
_BESIDE_FOLDERS = frozenset(_BESIDE_NAMES.split())
_BUILD_SCRIPTS = frozenset({"setup.py", "noxfile.py", "fabfile.py", "tasks.py", "build.rs", "rollup.config.js"})
_DEFINES = 1.5  # the least that a spelled name weighs where it is defined: what all files speak of is defined in one
_RUNS = 3.0  # a method of a spelled class that what the request writes runs
_INSIDE = 0.4  # a word inside a definition, against one in its name
_POINTED = 30.0  # a line that the request names or quotes
_LINES = 40  # of a file that are searched for words
_INNER = 5  # letters of a stem that is recognised inside a longer word
_IMPORT = re.compile(r"\s*(?:import|from|use|require)\b")
_COMMENT = re.compile(r"\s*(?:#(?!!|\[)|//|/\*|\*(?:\s|/|$))")
_COMMON = (
    "a about add added adding all also an and any are as at be both but by can change code could create do does each "
    "fix for from function get given has have how if implement in into is it its like make method more must new no not "
    "of on one only or other our out return returns set should so some such support than that the their them then there"
    "these they this to use used uses using value values want was we when where which while will with "
    "without would you"
)
_STOP = frozenset(_COMMON.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantFile:
    """A file that may matter.

    Attributes:
        score: larger is likelier; comparable within one ranking only.
        symbols: its definitions that fit the words, the best first; empty when none fits or the file was not parsed.
        fits: how well each of them fits, by the measure of `score`.
        lines: its lines that the request points at or quotes, in the order of the file.
        mentions: its lines outside of all definitions on which a name stands that the request spells: exports, registries.
        told: how much of the request stands on each of its lines inside of definitions, of a document that the request names on
            all lines, by the measure of `score`.
        is_named: the request names the file.
        is_test: ranked apart from the other files.
    """

    path: str
    score: float
    symbols: tuple[Symbol, ...] = ()
    fits: tuple[float, ...] = ()
    lines: tuple[int, ...] = ()
    mentions: tuple[int, ...] = ()
    told: Mapping[int, float] = field(default_factory=dict)
    is_named: bool = False
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """What is looked for.

    Attributes:
        stems: of words.
        exact: identifiers that were written out, in small letters.
        names: dotted paths of names that the request spells as code.
        special: methods that run where the request uses an operator or a built-in function.
        weights: what a stem, or `=identifier`, tells: rare ones tell more.
    """

    stems: tuple[str, ...]
    exact: frozenset[str]
    names: tuple[tuple[str, ...], ...] = ()
    special: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)


def rank(root: Path, terms: Sequence[str], *, text: str = "", limit: int = 12, tree: str = "") -> list[RelevantFile]:
    """Rank the files of a workspace by the words of a request; generated and vendored files are left out.

    Args:
        terms: words, identifiers (`parse_args`, `Circle.area`) or paths; very common words are left out.
        text: the request itself: names, files with lines, options and quoted texts are read from it.
        limit: candidates of each sort: at most so many files, followed by at most so many test files.
        tree: that the workspace is known to hold, "" = not known.
    """
    pointers = pointers_of(text)
    words_of_text = re.findall(r"[A-Za-z_]\w+", text[:_MOST_TEXT])
    query = _query([*(".".join(name) for name in pointers.names), *terms, *words_of_text], pointers.names)
    names = _own_files(root, tree) if tree else _listed(root, tree)
    content, full = _content(root, query) if query.stems else ({}, frozenset())
    where = _files_with(pointers.phrases, query, content, full)
    pointed = pointed_places(root, text[:_MOST_TEXT], pointers, names, where=where)
    if not query.stems and not pointed:
        return []
    query = replace(query, weights=_weights(query, content, len(names)), special=special_methods(text[:_MOST_TEXT]))
    held = holding(names, query.stems) | (content.keys() & set(names))
    scores = defaultdict(float, {name: _file_score(name, content.get(name), query) for name in held})
    for name, places in pointed.items():
        scores[name] += _POINTED * sum(places.values())
    likely = sorted((name for name, score in scores.items() if score > 0), key=lambda name: (-scores[name], name))
    sources = [name for name in likely if not is_test_path(name)]
    tests = [name for name in likely if is_test_path(name)]
    ranked: list[RelevantFile] = []
    for group, parsed in ((sources, _PARSED), (tests, _PARSED // 4)):
        found = [_candidate(root, name, scores[name], query, pointed.get(name, {})) for name in group[:parsed]]
        found += [RelevantFile(path=name, score=0.0, is_test=is_test_path(name)) for name in group[parsed:limit]]
        ranked += sorted(found, key=lambda candidate: (-candidate.score, candidate.path))[:limit]
    return ranked


@lru_cache(maxsize=2)
def _own_files(root: Path, tree: str) -> list[str]:
    return _listed(root, tree)


def _listed(root: Path, tree: str) -> list[str]:
    return [name for name in search.files(root, tree=tree) if not is_generated(name)]


@lru_cache(maxsize=_MOST_NAMES)
def is_test_path(path: str) -> bool:
    """Tell from its path whether a file belongs to the tests."""
    folder, _, name = path.lower().rstrip("/").rpartition("/")
    if folder and _is_of_tests(folder):
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
        or ".test-d." in name
        or name in ("tests.rs", "tests.py")
        or path.endswith((*_JAVA_TESTS, *_OTHER_TESTS))
    )


@lru_cache(maxsize=REMEMBERED)
def _is_of_tests(folder: str) -> bool:
    return not _TEST_FOLDERS.isdisjoint(folder.split("/"))


_TEST_FOLDERS = frozenset({"test", "tests", "testing", "spec", "specs", "__tests__"})
_SCRIPTS = frozenset({"js", "mjs", "cjs", "ts", "mts", "cts"})


def _query(terms: Sequence[str], names: Sequence[tuple[str, ...]]) -> _Query:
    stems: dict[str, None] = {}
    exact: set[str] = {name[-1].lower() for name in names if len(name[-1]) >= SHORTEST and name[-1] not in BUILT_IN}
    for term in terms:
        pieces = [piece for piece in re.findall(r"[A-Za-z0-9_]+", term) if piece not in BUILT_IN]
        exact.update(piece.lower() for piece in pieces if "_" in piece.strip("_") or piece[1:] != piece[1:].lower())
        for word in (part for piece in pieces for part in PARTS.findall(piece)):
            if word.lower() not in _STOP and len(word) >= SHORTEST - (not word.islower()) and not word.isdigit():
                stems.setdefault(stem(word.lower()))
    heard = tuple(stems)
    for name in sorted(exact):  # what is spelled as code counts, however common its words are
        if len(name) >= SHORTEST and not any(one in name for one in heard):
            stems.setdefault(name)
    stems = dict.fromkeys([*list(stems)[len(heard) :], *heard])
    return _Query(stems=tuple(stems)[:_MOST_TERMS], exact=frozenset(exact), names=tuple(names))


def _content(root: Path, query: _Query) -> tuple[Mapping[str, Counter[str]], frozenset[str]]:
    """How often each stem, and each exact identifier, stands in each file; and the files of which not all was looked at."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    seen: Counter[str] = Counter()
    wanted = frozenset(query.stems)
    for path, identifier in search.identifiers(root, query.stems, per_file=_LINES):
        seen[path] += 1
        counted[path].update(_hits(identifier, wanted))
        if identifier.lower() in query.exact:
            counted[path][f"={identifier.lower()}"] += 1
    return counted, frozenset(path for path, count in seen.items() if count >= _LINES)


def _files_with(
    phrases: Sequence[str], query: _Query, content: Mapping[str, Counter[str]], full: frozenset[str]
) -> frozenset[str] | None:
    """The only files that can hold one of the phrases, by the words that were found in them; None = any."""
    wanted, found = frozenset(query.stems), set(full)
    for phrase in phrases:
        tokens = re.findall(r"[A-Za-z0-9_]+\b(?=.)", phrase)  # the last one may go on, and end otherwise
        sure = {
            one for token in tokens for one in _hits(token, wanted) if len(one) >= _INNER
        }  # found in longer words, too
        if not sure:
            return None
        found.update(path for path, counts in content.items() if all(one in counts for one in sure))
    return frozenset(found)


@lru_cache(maxsize=REMEMBERED)
def _hits(identifier: str, wanted: frozenset[str]) -> tuple[str, ...]:
    """The stems that a name, a path or a sentence holds; run-together words count too: `progressbar` holds both."""
    lowered = identifier.lower()
    near = sorted(stem for stem in wanted if stem in lowered)  # sums of floats depend on their order
    if not near:
        return ()
    parts = words(identifier)
    return tuple(stem for stem in near if any(stem == part or (len(stem) >= _INNER and stem in part) for part in parts))


def _weights(query: _Query, content: Mapping[str, Counter[str]], total: int) -> Mapping[str, float]:
    """Rare words tell more: the logarithm of files to files that hold the word."""
    held: Counter[str] = Counter()
    for counts in content.values():
        held.update(counts.keys())
    keys = [*query.stems, *(f"={name}" for name in query.exact)]
    return {key: math.log(1 + (total + 1) / (1 + held[key])) for key in keys}


def _file_score(path: str, counts: Counter[str] | None, query: _Query) -> float:
    weights = query.weights
    in_path = _hits(path, frozenset(query.stems))
    score = _IN_PATH * sum(weights[word] for word in in_path)
    for key, count in (counts or {}).items():
        factor = _EXACT if key.startswith("=") else _IN_CONTENT
        score += factor * weights[key] * count / (count + 2)  # the tenth hit says less than the first
    if not language_of(path):
        return score * _NOT_SOURCE
    return score * BESIDE if is_beside(path) else score


def is_beside(path: str) -> bool:
    """Tell whether a file is documentation, an example, a benchmark or a script of the build: seldom what is to be changed."""
    return path in _BUILD_SCRIPTS or not _BESIDE_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


def _candidate(root: Path, path: str, score: float, query: _Query, pointed: Mapping[int, float]) -> RelevantFile:
    text = read_source(root, path) if language_of(path) else None
    lines = tuple(sorted(line for line in pointed if line))
    if text is None or looks_generated(text):
        return RelevantFile(
            path=path,
            score=score * (1.0 if text is None else _NOT_SOURCE),
            lines=lines,
            told=_told(root, path, query) if text is None and pointed else {},
            is_named=bool(pointed),
            is_test=is_test_path(path),
        )
    known = outline_of(path, text).symbols
    symbols = of_product(known)
    apart = {line for one in known if one.in_tests for line in range(one.line, one.end_line + 1)}
    said, outside, told = _said_inside(text, symbols, query, apart)
    fits = [
        (_symbol_score(symbol, query, said.get(place, {}), pointed), symbol) for place, symbol in enumerate(symbols)
    ]
    best = sorted((item for item in fits if item[0] > 0), key=lambda item: (-item[0], item[1].line))[:_MOST_SYMBOLS]
    named = max((_name_score(symbol, query) for symbol in symbols), default=0.0)
    return RelevantFile(
        path=path,
        score=score + _IN_SYMBOL * named,
        symbols=tuple(symbol for _, symbol in best),
        fits=tuple(fit for fit, _ in best),
        lines=lines,
        mentions=outside,
        told=told,
        is_named=bool(pointed),
        is_test=is_test_path(path),
    )


def _said_inside(
    text: str, symbols: Sequence[Symbol], query: _Query, apart: Collection[int]
) -> tuple[dict[int, Counter[str]], tuple[int, ...], dict[int, float]]:
    """How often each word stands in each definition, by the definition's place in the list, a line belonging to the innermost;
    the first lines outside of all functions and classes on which a name stands that the request spells; and how much of the
    request each line inside of a definition holds. Lines of tests inside of the product are no part of it."""
    if not query.stems:
        return {}, (), {}
    rows = text.split("\n")
    owner: dict[int, int] = {}
    for place in sorted(range(len(symbols)), key=lambda place: symbols[place].line - symbols[place].end_line):
        first = first_of_comment(rows, symbols[place].line)
        owner.update(dict.fromkeys(range(first, symbols[place].end_line + 1), place))
    wanted, found = frozenset(query.stems), defaultdict[int, Counter[str]](Counter)
    spelled = {name[-1].lower() for name in query.names} & query.exact
    outside: dict[str, int] = {}
    told: dict[int, float] = {}
    pattern = re.compile(rf"\w*(?:{'|'.join(map(re.escape, query.stems))})\w*", re.IGNORECASE | re.ASCII)
    for number, row in enumerate(rows, start=1):
        if number in apart:
            continue
        if (number not in owner or symbols[owner[number]].kind == "variable") and not _IMPORT.match(row):
            for name in spelled.intersection(one.lower() for one in pattern.findall(row)):
                outside[name] = number  # the last line: a name is imported first, and listed after that
        if number not in owner:
            continue
        here: Counter[str] = Counter()
        for identifier in pattern.findall(row):
            here.update(_hits(identifier, wanted))
            if identifier.lower() in query.exact:
                here[f"={identifier.lower()}"] += 1
        if here:
            found[owner[number]].update(here)
            told[number] = sum(query.weights.get(key, 0.0) for key in here)
    return found, tuple(sorted(set(outside.values()))), told


def _told(root: Path, path: str, query: _Query) -> dict[int, float]:
    """How much of the request stands on each line of a document, a name that is spelled counting more."""
    wanted, told = frozenset(query.stems), {}
    for number, row in enumerate((read_source(root, path) or "").split("\n"), start=1):
        names = re.findall(r"\w+", row)
        keys = {key for name in names for key in _hits(name, wanted)}
        spelled = query.exact.intersection(name.lower() for name in names)
        weight = sum(query.weights.get(key, 0.0) for key in keys)
        weight += _EXACT * sum(query.weights.get(f"={name}", 0.0) for name in spelled)
        if weight:
            told[number] = weight
    return told


def first_of_comment(rows: Sequence[str], line: int) -> int:
    """The first line of the comment that stands right above a line; the line itself where there is none."""
    while line > 1 and _COMMENT.match(rows[line - 2]):
        line -= 1
    return line


def _symbol_score(symbol: Symbol, query: _Query, said: Mapping[str, int], pointed: Mapping[int, float]) -> float:
    """How well a definition fits: by its name, by the words inside of it, by the lines that the request points at."""
    inside = sum(query.weights.get(key, 0.0) * count / (count + 2) for key, count in said.items())
    at = sum(sure for line, sure in pointed.items() if symbol.line <= line <= symbol.end_line)
    narrow = at / (1.0 if symbol.kind not in ("class", "type") else 3.0)  # rather the method than the class around it
    runs = _RUNS if symbol.name in query.special and symbol.parent.lower() in query.exact else 0.0
    return _name_score(symbol, query) + runs + _INSIDE * inside + _POINTED * narrow


def _name_score(symbol: Symbol, query: _Query) -> float:
    """How well a definition's name fits; its documentation counts a little, a local variable less than a function."""
    weights, last = query.weights, symbol.name.lower()
    spelled = max((_alike(symbol, name) for name in query.names if name[-1].lower() == last), default=0.0)
    if last in query.exact or (spelled and last in BUILT_IN):  # a project's own `format`
        return (2 + spelled) * max(weights.get(f"={last}", 1.0), _DEFINES if spelled else 0.0)
    wanted = frozenset(query.stems)
    named, said = _hits(symbol.name, wanted), _hits(symbol.doc, wanted)
    score = sum(
        weights[word] * (1.0 if word in named else 0.25) for word in query.stems if word in named or word in said
    )
    return score * (0.5 if symbol.kind == "variable" else 1.0)


def _alike(symbol: Symbol, name: tuple[str, ...]) -> float:
    """How much of a dotted name a definition bears: its class, its module or the package around it."""
    if len(name) == 1:
        return 0.5
    owner = name[-2].lower()
    around = {part.lower() for part in symbol.parent.split(".")}
    if owner in around:
        return 3.0
    places = {part.partition(".")[0].lower() for part in symbol.path.split("/")}
    if owner in places or f"{owner}s" in places:
        return 2.0 if not symbol.parent else 1.0
    return 0.5
