"""Tests that stand inside of product files: which part of a file they are, whether it alone differs, and putting it back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agentforge.languages.catalogue import of_path
from agentforge.languages.language import TestPart
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of, parse_tree
from agentforge.workspace.git.repository import Read

MARK = "#tests"
"""Behind the path of a product file: the part of it that is tests, as a thing that can be frozen."""
_OF_TESTS = re.compile(r"tests?|tests?_\w+|\w+_tests?")

Key = tuple[str, int]
"""The name of a part, and which of the parts with this name it is."""


def may_hold_tests(path: str) -> bool:
    """Whether a file is of the product, in a language whose tests may stand inside of it."""
    language = of_path(path)
    return language is not None and language.test_parts is not None and not is_test_path(path)


def key_of(path: str) -> str:
    """What the tests of a file are frozen under: its path, or that of a product file with a mark."""
    return f"{path}{MARK}" if may_hold_tests(path) else path


def names_inner_test(path: str, name: str) -> bool:
    """Whether a name means a test inside of a product file, by the module that it names: `tests::reads`."""
    *modules, _ = name.split("(", maxsplit=1)[0].replace("::", ".").split(".")
    return may_hold_tests(path) and any(_OF_TESTS.fullmatch(one) for one in modules)


def reads_whole(path: str, text: str) -> bool:
    """Whether a text can be parsed from the first to the last sign."""
    root = parse_tree(text, language_of(path) or "")
    return root is not None and root.find(kind="ERROR") is None


def inner_tests(path: str, data: bytes | None) -> bytes:
    """The parts of a product file that are tests, one after the other; b"" where it has none."""
    pieces = (f"{name}\n{text.strip()}\n" for (name, _), text in _pieces(path, data).items())
    return "".join(pieces).encode()


def without_tests(path: str, data: bytes) -> bytes:
    """A product file without its tests; how it ends does not count."""
    text = _decoded(data)
    return data if text is None else _with_pieces(text, _parts(path, text), {}).rstrip().encode() + b"\n"


def with_blank_tests(path: str, data: bytes) -> bytes:
    """A product file with empty lines in the place of its tests, so that all other lines keep their numbers."""
    text = _decoded(data)
    if text is None:
        return data
    blank = {key: "\n" * text.count("\n", part.first, part.last) for key, part in _keyed(_parts(path, text))}
    return _with_pieces(text, _parts(path, text), blank).encode()


def with_tests_of(path: str, data: bytes, other: bytes) -> bytes:
    """A product file with the tests that another version of it has, each part in its place; one that is new stands at the end."""
    text = _decoded(data)
    if text is None:
        return data
    parts, pieces = _parts(path, text), _pieces(path, other)
    known = {key for key, _ in _keyed(parts)}
    added = "".join(f"\n\n{piece.strip()}\n" for key, piece in pieces.items() if key not in known)
    whole = _with_pieces(text, parts, pieces)
    return (f"{whole.rstrip()}{added}" if added else whole).encode()


def lines_of_tests(path: str, data: bytes) -> int:
    """The lines of a product file that are tests, a bit for each."""
    text, bits = _decoded(data) or "", 0
    for part in _parts(path, text):
        begin = part.last - len(text[part.first : part.last].lstrip())
        first, last = text.count("\n", 0, begin) + 1, text.count("\n", 0, part.last) + 1
        bits |= ((1 << (last - first + 1)) - 1) << first
    return bits


def _parts(path: str, text: str) -> tuple[TestPart, ...]:
    """The parts in their order, each with the blanks before it."""
    language = of_path(path)
    if language is None or language.test_parts is None or is_test_path(path):
        return ()
    root = parse_tree(text, language_of(path) or "")
    found = language.test_parts(root) if root is not None else ()
    return tuple(
        TestPart(name=one.name, first=len(text[: one.first].rstrip()), last=one.last)
        for one in sorted(found, key=lambda one: one.first)
    )


def _keyed(parts: tuple[TestPart, ...]) -> Iterator[tuple[Key, TestPart]]:
    seen: Counter[str] = Counter()
    for part in parts:
        yield (part.name, seen[part.name]), part
        seen[part.name] += 1


def _pieces(path: str, data: bytes | None) -> dict[Key, str]:
    text = _decoded(data or b"")
    if text is None:
        return {}
    return {key: text[part.first : part.last] for key, part in _keyed(_parts(path, text))}


def _with_pieces(text: str, parts: tuple[TestPart, ...], pieces: dict[Key, str]) -> str:
    """A text with other pieces in the places of its parts; a part without one is left out."""
    made, at = [], 0
    for key, part in _keyed(parts):
        made += [text[at : part.first], pieces.get(key, "")]
        at = part.last
    return "".join([*made, text[at:]])


def _decoded(data: bytes) -> str | None:
    """The text of a source file; None where it is none, so that it has no parts."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def only_tests_changed(path: str, *, before: Read, after: Read) -> bool:
    """Whether a product file of the base is the same but for the tests inside of it."""
    old, new = (before(path), after(path)) if may_hold_tests(path) else (None, None)
    return old is not None and new is not None and without_tests(path, old) == without_tests(path, new)


def inner_tests_changed(path: str, *, before: Read, after: Read) -> bool:
    """Whether the tests inside of a product file of the base are others; those of a file that is gone went with it."""
    old, new = (before(path), after(path)) if may_hold_tests(path) else (None, None)
    return old is not None and new is not None and inner_tests(path, old) != inner_tests(path, new)


def with_tests_as(path: str, *, then: Read, now: Read) -> bytes | None:
    """A file as it is run with its earlier tests: the earlier text of a test file, of a product file the earlier tests alone."""
    if not may_hold_tests(path):
        return then(path)
    old, new = then(path), now(path)
    return new if old is None or new is None else with_tests_of(path, new, old)


def put_back_in(paths: Iterable[str], *, frozen: Read, now: Read) -> dict[str, bytes | None]:
    """Those of some product files whose frozen tests are others now, with the frozen ones."""
    changed = (path for path in paths if inner_tests_changed(path, before=frozen, after=now))
    return {path: with_tests_as(path, then=frozen, now=now) for path in changed}
