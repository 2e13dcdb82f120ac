"""Views of tests: how they look here and where new ones go, those that are to be changed, and the frozen ones."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from agentforge.context.sections import NEWEST, Level, View, Want, runs_of
from agentforge.languages.javascript.tests import javascript_tests
from agentforge.pipeline.context.excerpts import (
    BESIDE,
    EDGE,
    HEAD,
    HEADING,
    SMALL_FILE,
    WHOLE,
    definitions_of,
    file_view,
    head_of,
    members_of,
    source_text,
    symbols_of,
    words_in,
)
from agentforge.tokens import count_tokens
from agentforge.workspace.code.stems import words as stems_of
from agentforge.workspace.code.symbols import Symbol, language_of, parse_tree
from agentforge.workspace.files.generated import is_generated

_END = 12  # lines at the end of a test file
_LAST = 6  # the same of a further file that was named
_MOST_TESTS = 400
_LIKELY_FILES = 2
_BEHIND = 4
"""So many tests of a likely file come before those of the next one."""
_OF_NEAR, _OF_OTHERS = 1000, 300
"""Tokens of further tests of the nearest file, and of each of the others: a longer look costs more than a question."""
_SHORT_NAME = 3  # letters that say nothing
_OF_TOLD = 0.5
"""What a quoted text in a test, or a word of the request in its name, weighs against a symbol that is to be changed."""
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]{2,80})\"|'([^'\n]{2,80})'")
_TITLED = frozenset({"javascript", "typescript", "tsx"})
_NUMBER = 2  # tokens of a line's number
_FIXTURES = ("fixture", "setUp", "setup", "before", "Before")

# -- how tests look here


def style_views(
    root: Path,
    *,
    near: Iterable[str],
    tests: Iterable[str],
    names: Iterable[str] = (),
    named: Iterable[str] = (),
    words: Iterable[str] = (),
    likely: int = _LIKELY_FILES,
    more: int = _OF_NEAR,
    request: str = "",
) -> list[View]:
    """The test file that shows how the named symbols are tested: its imports and fixtures, the nearest test, its end.

    Of further files that were named the end is wanted, too. Where none was named, imports and end of the next one are likely
    wanted: a model may know better where its tests belong.

    Args:
        near: product files; a test file that speaks of one is likely theirs.
        tests: the test files that are known; what a build made of them is no example.
        names: symbols that matter.
        named: test files that earlier artifacts named; where there are any, no other is shown.
        words: of the request.
        likely: how many files are shown besides where none was named.
        more: tokens of further tests of the nearest file.
        request: tests that hold what it quotes, or bear its words in their names, are nearer.
    """
    told = _Quotations(request)
    symbols = [word for word in dict.fromkeys(part for name in names for part in name.split(".")) if word.strip("_")]
    symbols = [word for word in symbols if not word.startswith("__")]
    stems = [stem for path in near if (stem := Path(path).stem.strip("_")) not in ("", "index", "mod", "lib")]
    weights = dict.fromkeys(words, 0.25) | dict.fromkeys(stems, 0.5) | dict.fromkeys(symbols, 1.0)
    named, views = list(named), []
    written = [path for path in tests if not is_generated(path)]
    for place, path in enumerate(_test_files(root, written, weights, stems, named, most=1 + likely)):
        text = source_text(root, path) or ""
        found, blocks = symbols_of(path, text), tests_in(path, text)
        count = len(text.rstrip("\n").split("\n"))
        if place and path in named:
            wants = [Want(first=count - _LAST + 1, last=count, order=EDGE, focus=count, why="where tests are added")]
        elif place:
            wants = [*_place_of_tests(text, count), *_near_tests(text, blocks, weights, told, room=_OF_OTHERS)]
            wants = [replace(want, level=Level.LIKELY, order=_BEHIND * place + want.order) for want in wants]
        elif count_tokens(text) <= SMALL_FILE:
            wants = [Want(first=1, last=count, level=Level.NAMED, order=EDGE, why="how tests look here")]
        else:
            wants = [*_place_of_tests(text, count), *_near_tests(text, blocks, weights, told, room=more)]
        views.append(file_view(root, path, text, wants, symbols=found, state="how tests look here"))
    return views


def _test_files(
    root: Path, tests: list[str], weights: Mapping[str, float], stems: list[str], named: list[str], *, most: int
) -> list[str]:
    """The test files that were named, else those that most likely test what matters: that speak of it, rare words more."""
    fitting = [
        path for path in dict.fromkeys((*named, *tests)) if language_of(path) and not path.endswith("__init__.py")
    ]
    read = ((path, source_text(root, path)) for path in fitting)
    present = dict(islice(((path, text) for path, text in read if text is not None), _MOST_TESTS))
    speech = {path: Counter(re.findall(r"\w+", text)) for path, text in present.items()}
    rare = {word: math.log(1 + len(present) / (1 + sum(word in said for said in speech.values()))) for word in weights}

    def score(path: str) -> float:
        said, name = speech[path], Path(path).stem
        spoken = sum(weight * rare[word] * said[word] / (said[word] + 2) for word, weight in weights.items())
        kin = any(stem.lower() in name.lower() for stem in stems)
        helps = "test" not in name.lower() and "spec" not in name.lower()
        return spoken + kin - 3.0 * (name == "conftest") - helps

    best = sorted(present, key=lambda path: (-score(path), -speech[path].total(), path))
    return [path for path in best if path in named] or best[:most]


def tests_in(path: str, text: str) -> list[Symbol]:
    """List the tests of a file and what stands beside them: functions and methods; in JavaScript `it(...)` by its titles, too."""
    found = [one for one in symbols_of(path, text) if one.kind in ("function", "method")]
    found += [test for _, test in _titled(path, text)]
    return sorted(found, key=lambda one: (one.line, -one.end_line))


def _titled(path: str, text: str) -> Iterator[tuple[str, Symbol]]:
    """The tests of a JavaScript or TypeScript file with their whole titles, `group > title`; none of another language."""
    language = language_of(path) or ""
    tree = parse_tree(text, language) if language in _TITLED else None
    for titles, call in javascript_tests(tree) if tree is not None else ():
        lines = call.range()
        title, first, last = titles.rpartition(" > ")[2], lines.start.line + 1, lines.end.line + 1
        yield titles, Symbol(name=title, kind="function", path=path, line=first, end_line=last, signature=title)


def listed_views(root: Path, listed: Mapping[str, Iterable[str]]) -> list[View]:
    """The existing tests that are to be changed or removed, whole: behind what the model asked for in its last step, before
    anything else that was named. The short ones are first, so that as many as possible are whole.

    Args:
        listed: by test file the names as a specification or a runner writes them.
    """
    views = []
    for path, names in listed.items():
        text = source_text(root, path)
        found = [one for name in names for one in _tests_called(path, text, name)] if text is not None else []
        if text is None or not found:
            continue
        symbols, why = symbols_of(path, text), "is to be changed"
        wants = [
            Want(
                first=one.line, last=one.end_line, level=Level.ASKED, order=_listed_order(one), focus=one.line, why=why
            )
            for one in found
            if not members_of(symbols, one)
        ]
        views.append(file_view(root, path, text, wants, symbols=symbols, state="how tests look here"))
    return views


def _listed_order(test: Symbol) -> int:
    """One order for each length in lines: tests of one order would share the room, and all of them would be cut."""
    return NEWEST + min(test.end_line - test.line, NEWEST - 1)


def _tests_called(path: str, text: str, name: str) -> list[Symbol]:
    """What a name stands for: `Class::test[row]`, `Test/sub`, `group > title`; the definition, where a title is a test's own."""
    titled, titles_of_name = list(_titled(path, text)), name.split(" > ")
    for place in range(len(titles_of_name)):
        wanted = " > ".join(titles_of_name[place:])
        if found := [test for titles, test in titled if titles == wanted or titles.endswith(f" > {wanted}")]:
            return found
    bare = re.split(r"[\[/]", name, maxsplit=1)[0].replace("::", ".")
    return definitions_of(symbols_of(path, text), bare)


def _place_of_tests(text: str, count: int) -> Iterator[Want]:
    """A test file's imports and its end."""
    first, last = head_of(text)
    yield Want(first=first, last=last, order=EDGE, why="imports of the tests")
    yield Want(first=count - _END + 1, last=count, order=EDGE, focus=count, why="where tests are added")


def _near_tests(
    text: str, tests: Sequence[Symbol], weights: Mapping[str, float], told: _Quotations, *, room: int
) -> Iterator[Want]:
    """The test that speaks most of what matters, the fixtures, the end of the class around it, and further tests, nearest first.

    Args:
        weights: of words; how rare each is among these tests counts, too.
        room: tokens for the further tests.
    """
    rows = text.split("\n")
    said = [words_in(rows, [one]) for one in tests]
    rare = {word: math.log(1 + len(tests) / (1 + sum(word in one for one in said))) for word in weights}
    named = told.scores(rows, tests)
    scores = [
        score
        + sum(weights[word] * rare[word] for word in weights if word in words or _bears(test, word, weights[word]))
        for test, words, score in zip(tests, said, named, strict=True)
    ]
    order = sorted(range(len(tests)), key=lambda place: (-scores[place], tests[place].end_line - tests[place].line))
    near = [tests[place] for place in order if scores[place] > 0] or [tests[place] for place in order[:1]]
    for one in near[:1]:
        yield Want(first=one.line, last=one.end_line, order=WHOLE, focus=one.line, why="the nearest test")
        end = max((other.end_line for other in tests if other.parent == one.parent), default=0) if one.parent else 0
        if end:
            yield Want(first=end - _LAST + 1, last=end, order=HEADING, focus=end, why="the end of its class")
    for one in tests:
        if any(word in row for row in rows[one.line - 1 : one.line + 1] for word in _FIXTURES):
            yield Want(first=one.line, last=one.end_line, order=HEADING, why="a fixture")
    for place, one in enumerate(near[1:]):
        room -= _price(text, range(one.line, min(one.end_line, len(rows)) + 1))
        if room < 0:
            return
        yield Want(first=one.line, last=one.end_line, level=Level.LIKELY, order=place, why="a test of the same things")


class _Quotations:
    """What a request quotes, and the stems of its words."""

    def __init__(self, request: str) -> None:
        found = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(request))
        self._quoted = dict.fromkeys(one for one in found if len(one) >= _SHORT_NAME)
        self._stems = {one for word in re.findall(r"\w+", request) for one in stems_of(word) if len(one) >= _SHORT_NAME}

    def scores(self, rows: Sequence[str], tests: Sequence[Symbol]) -> list[float]:
        """How much of it stands in each test, and in its name; what stands in few tests says more."""
        held = []
        for one in tests:
            inside = "\n".join(rows[one.line - 1 : one.end_line])
            quoted = {text for text in self._quoted if text in inside}
            named = {stem for word in re.findall(r"\w+", one.name) for stem in stems_of(word)}
            held.append(quoted | {f"={stem}" for stem in named & self._stems})
        known = Counter(key for keys in held for key in keys)
        return [sum(_OF_TOLD * math.log(1 + len(tests) / (1 + known[key])) for key in keys) for keys in held]


def _bears(test: Symbol, word: str, weight: float) -> bool:
    """Whether the name of a test holds the name of what matters: `TestMustGetFloat64` that of `getFloat64`."""
    return weight >= 1 and len(word) > _SHORT_NAME and word.lower() in test.name.lower()


# -- frozen tests


def frozen_views(
    root: Path, suite: Mapping[str, Iterable[str]], *, before: Callable[[str], str], whole: int, law: int
) -> list[View]:
    """The frozen tests: short files whole; of the others what is new in them is law, the tests around it are wanted next.

    Args:
        suite: by path the names of the tests that are declared there.
        before: the text that a file had before the run, "" of a new one.
        whole: tokens that files may cost that are law as a whole.
        law: tokens that the law of all files may cost; what is more than a file's share of it is wanted like code.
    """
    texts = {path: text for path in suite if (text := source_text(root, path)) is not None}
    symbols = {path: symbols_of(path, text) for path, text in texts.items()}
    costs = {path: _price(text, range(1, text.count("\n") + 2)) for path, text in texts.items()}
    short = [path for path, share in _shares(costs, whole).items() if share == costs[path]]
    long = [path for path in texts if path not in short]
    tests = {path: [one for name in suite[path] for one in definitions_of(symbols[path], name)] for path in long}
    new = {path: lines_of_law(before(path), texts[path], tests[path]) for path in long}
    room = law - sum(costs[path] for path in short)
    shares = _shares({path: _price(texts[path], new[path]) for path in long}, room)
    views = []
    for path, text in texts.items():
        wants = [Want(first=1, last=text.count("\n") + 1, level=Level.LAW, why="frozen tests")]
        if path in new:
            rest = _declared(text, symbols[path], tests[path])
            wants = [*_law(text, symbols[path], new[path], shares[path]), *rest]
        views.append(file_view(root, path, text, wants, symbols=symbols[path], state="frozen tests"))
    return views


def _shares(costs: Mapping[str, int], room: int) -> dict[str, int]:
    """The room of each: small ones have what they cost before a large one has more than its share."""
    shares: dict[str, int] = {}
    for served, path in enumerate(sorted(costs, key=lambda path: costs[path])):
        shares[path] = min(costs[path], max(0, room) // (len(costs) - served))
        room -= shares[path]
    return shares


def lines_of_law(before: str, now: str, tests: Sequence[Symbol]) -> list[int]:
    """The lines that a text did not have before; where it is the same, those of the declared tests, without any all."""
    rows = now.split("\n")
    matcher = SequenceMatcher(a=before.split("\n"), b=rows)
    changed = [(first, last) for tag, _, _, first, last in matcher.get_opcodes() if tag in ("insert", "replace")]
    spans = changed or [(one.line - 1, one.end_line) for one in tests] or [(0, len(rows))]
    return sorted({number + 1 for first, last in spans for number in range(first, last)})


def _price(text: str, numbers: Iterable[int]) -> int:
    rows = text.split("\n")
    return sum(count_tokens(rows[number - 1]) + _NUMBER for number in numbers)


def _law(text: str, symbols: Sequence[Symbol], new: Sequence[int], room: int) -> Iterator[Want]:
    """The new lines with the names of the tests that they stand in, as many as the room holds; the others as code is."""
    tests = [one for one in symbols if one.kind in ("function", "method")]
    spent, law = 0, set[int]()
    for number in new:
        spent += _price(text, [number])
        if spent <= room:
            law |= {number} | {one.line for one in tests if one.line <= number <= one.end_line}
    for first, last in runs_of(law):
        yield Want(first=first, last=last, level=Level.LAW, why="new in the frozen tests")
    for first, last in runs_of(set(new) - law):
        yield Want(first=first, last=last, order=BESIDE, why="new in the frozen tests")


def _declared(text: str, symbols: Sequence[Symbol], tests: Sequence[Symbol]) -> Iterator[Want]:
    """The declared tests whole, what they use, and the imports; without any, the imports and the end."""
    spoken = words_in(text.split("\n"), tests)
    aids = [one for one in symbols if one.name in spoken and not one.parent and one not in tests]
    for one in tests:
        yield Want(first=one.line, last=one.end_line, order=BESIDE, why="a frozen test")
    for one in aids:
        last = min(one.end_line, one.line + HEAD)
        yield Want(first=one.line, last=last, order=HEADING, why="a frozen test uses it")
    count = len(text.rstrip("\n").split("\n"))
    for want in islice(_place_of_tests(text, count), 1 if tests else 2):
        yield replace(want, order=HEADING)
