"""Tests inside of product files, for a context: where RED writes them, and what of them is frozen for those who come after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from agentforge.context.sections import Level, Piece, Section, View, Want, runs_of, view_of
from agentforge.languages.test_parts import lines_of_tests, may_hold_tests
from agentforge.pipeline.context.excerpts import EDGE, SMALL_FILE, WHOLE, file_view, source_text, symbols_of
from agentforge.pipeline.context.excerpts_of_tests import lines_of_law
from agentforge.tokens import count_tokens

_EDGE = 12  # lines at the beginning and at the end of a module of tests
_HERE = "{path}: its tests stand in lines {lines}; write more of them in there"
_NOWHERE = (
    "{path}: it has no tests inside. For tests of what is private add #[cfg(test)] mod tests {{ use super::*; ... }} "
    "at its end"
)
_LAW = "Outside of such a module every byte stays. Declare its tests under the path of the file, as MODULE::NAME"
_FROZEN = "{path}: lines {lines} are frozen tests; change what stands outside of them"
_NAME = "tests inside of product files"


def place_piece(root: Path, paths: Iterable[str]) -> Piece:
    """Say where tests inside of some product files go; empty where the language has none."""
    rows = []
    for path, text in _texts(root, paths):
        lines = _spelled(_ranges(path, text))
        rows.append(_HERE.format(path=path, lines=lines) if lines else _NOWHERE.format(path=path))
    return Piece(name=_NAME, text="\n".join([*rows, _LAW]) if rows else "", level=Level.LAW)


def frozen_piece(root: Path, paths: Iterable[str]) -> Piece:
    """Say which lines of product files are frozen tests; empty where there are none."""
    rows = [_FROZEN.format(path=path, lines=_spelled(_ranges(path, text))) for path, text in _texts(root, paths)]
    return Piece(name=_NAME, text="\n".join(rows), level=Level.LAW)


def with_places(root: Path, sections: Iterable[Section]) -> Iterator[Section]:
    """Views of product files with the place where their tests go: short modules of tests whole, of long ones both ends."""
    for one in sections:
        text = source_text(root, one.path) if isinstance(one, View) and may_hold_tests(one.path) else None
        if text is None or not isinstance(one, View):
            yield one
        else:
            yield _widened(one, text, list(_places(one.path, text)))


def with_frozen(
    root: Path, sections: Sequence[Section], paths: Iterable[str], *, before: Callable[[str], str]
) -> Iterator[Section]:
    """Views of product files, in which what is new in their frozen tests is law.

    Args:
        before: the text that a file had before the run.
    """
    frozen = dict(_texts(root, paths))
    law = {path: list(_new_in_tests(path, text, before(path))) for path, text in frozen.items()}
    seen = {one.path for one in sections if isinstance(one, View)}
    for path, text in frozen.items():
        if path not in seen:
            symbols = symbols_of(path, text)
            yield file_view(root, path, text, law[path], symbols=symbols, state="the tests inside are frozen")
    for one in sections:
        held = isinstance(one, View) and one.path in frozen
        yield _widened(one, frozen[one.path], law[one.path]) if held and isinstance(one, View) else one


def _texts(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in dict.fromkeys(paths):
        text = source_text(root, path) if may_hold_tests(path) else None
        if text is not None:
            yield path, text


def _ranges(path: str, text: str) -> list[tuple[int, int]]:
    bits = lines_of_tests(path, text.encode())
    return runs_of(number for number in range(bits.bit_length()) if bits >> number & 1)


def _spelled(ranges: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{first}-{last}" for first, last in ranges)


def _places(path: str, text: str) -> Iterator[Want]:
    rows = text.split("\n")
    for first, last in _ranges(path, text):
        why = "where its tests go"
        yield Want(first=last - _EDGE + 1, last=last, order=EDGE, focus=last, why=why)
        yield Want(first=first, last=min(last, first + _EDGE), order=EDGE, focus=first, why=why)
        if count_tokens("\n".join(rows[first - 1 : last])) <= SMALL_FILE:
            yield Want(first=first, last=last, order=WHOLE, focus=last, why=why)


def _new_in_tests(path: str, text: str, before: str) -> Iterator[Want]:
    bits = lines_of_tests(path, text.encode())
    new = [number for number in lines_of_law(before, text, ()) if bits >> number & 1]
    for first, last in runs_of(new):
        yield Want(first=first, last=last, level=Level.LAW, why="new in the frozen tests")


def _widened(view: View, text: str, wants: Sequence[Want]) -> View:
    return view_of(view.path, text, [*view.wants, *wants], digest=view.digest, names=view.names, state=view.state)
