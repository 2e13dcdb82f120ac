"""What a request spells out: names of code, files with lines, options, and texts that stand in the source word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentforge.frozen import dataclass

_MOST_TEXT = 20_000
_MOST_NAMES, _MOST_PHRASES, _MOST_FILES = 24, 12, 16
_SPAN = re.compile(r"```[^\n]*\n(.*?)```|``?([^`\n]+)``?", re.DOTALL)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)+")
_CALLED = re.compile(r"([A-Za-z_$][\w$]*)\(")
_MARKED = re.compile(
    r"\b(?:[A-Za-z]\w*_\w+|_+[A-Za-z]\w*|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z][A-Z0-9]+[a-z]\w*)\b"
)
_PLAIN = re.compile(r"[A-Za-z_$][\w$]*")
_FILE = re.compile(r"(?<![\w/])(/?(?:[\w@.+-]+/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,5})(?:[:#]L?(\d+)|\((\d+))?")
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([\w<>]+))?')
_OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]+)")
_QUOTED = re.compile(r'"([^"\n]{4,160})"|\'([^\'\n]{4,160})\'|“([^”\n]{4,160})”|`([^`\n]{4,160})`')
_ERROR = re.compile(
    r"^\s*(?:[\w.]*(?:Error|Exception|Warning)|panic|thread '[^']*' panicked at|error(?:\[\w+\])?): +(.{6,200})$", re.M
)
_HOLES = re.compile(r"\{[^{}]*\}|%[sdrfvq]|<[^<>]*>|\$\{[^{}]*\}|\b\d+\b|'[^']*'|\"[^\"]*\"|`[^`]*`|\.\.\.")
_WORDS_OF_PHRASE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointers:
    """What a text points at.

    Attributes:
        names: dotted paths of names, `("click", "edit")`, in the order of appearance; a plain one has one part.
        files: (path or its end, line); the line is 0 where none is given.
        phrases: texts that are looked for word for word, the longest part without what a program puts in.
    """

    names: tuple[tuple[str, ...], ...] = ()
    files: tuple[tuple[str, int], ...] = ()
    phrases: tuple[str, ...] = ()


def pointers_of(text: str) -> Pointers:
    """Read what a request spells out."""
    text = text[:_MOST_TEXT]
    names, files = dict.fromkeys(_names(text)), dict.fromkeys(_files(text))
    phrases = dict.fromkeys(phrase for said in _said(text) for phrase in _fixed(said))
    return Pointers(
        names=tuple(names)[:_MOST_NAMES], files=tuple(files)[:_MOST_FILES], phrases=tuple(phrases)[:_MOST_PHRASES]
    )


def _names(text: str) -> Iterator[tuple[str, ...]]:
    """Names in code spans, dotted names, calls, names with underscores or capitals inside, functions of a traceback."""
    for match in _SPAN.finditer(text):
        span = match[2] or ""
        whole = _PLAIN.fullmatch(span.strip())
        if whole is not None:
            yield (whole[0],)
    for match in _DOTTED.finditer(text):
        parts = tuple(re.split(r"\.|::|#|->", match[0]))
        if not (
            len(parts) == 2
            and parts[1].islower()
            and len(parts[1]) <= 4
            and _FILE.fullmatch(match[0])
            and parts[1] in _ENDINGS
        ):
            yield parts
    for pattern in (_CALLED, _MARKED):
        for match in pattern.finditer(text):
            yield (match[match.lastindex or 0],)
    for match in _FRAME.finditer(text):
        if match[3] and match[3].isidentifier():
            yield (match[3],)
    for match in _OPTION.finditer(text):
        yield (match[1].replace("-", "_"),)


_KNOWN = "py pyi js mjs cjs ts tsx jsx go rs java kt c h cc cpp cs rb php md rst txt toml yaml yml json cfg ini sh"
_ENDINGS = frozenset(_KNOWN.split())


def _files(text: str) -> Iterator[tuple[str, int]]:
    for match in _FRAME.finditer(text):
        yield match[1], int(match[2])
    for match in _FILE.finditer(text):
        if match[1].rpartition(".")[2].lower() in _ENDINGS:
            yield match[1].removeprefix("./"), int(match[2] or match[3] or 0)


def _said(text: str) -> Iterator[str]:
    """What is quoted, what an error says, and options as they are spelled."""
    for match in _ERROR.finditer(text):
        yield match[1].strip()
    for match in _QUOTED.finditer(text):
        yield next(group for group in match.groups() if group is not None)
    for match in _OPTION.finditer(text):
        yield match[0]


def _fixed(said: str) -> Iterator[str]:
    """The text itself where it is short, and its longest part between what a program may have put in."""
    said = said.strip()
    if said.startswith("--") and " " not in said:
        yield said
        return
    pieces = sorted((piece.strip(" .,:;!?()[]") for piece in _HOLES.split(said)), key=len, reverse=True)
    if len(said.split()) >= _WORDS_OF_PHRASE:
        yield from (piece for piece in pieces[:1] if len(piece.split()) >= _WORDS_OF_PHRASE and len(piece) >= 8)
