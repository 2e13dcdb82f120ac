"""The test file that an examiner wrote: its text, where it runs, and which words of the request stand above each test. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

_SAYS = re.compile(r"^[ \t]*(?://|#)+[ \t]*says:[ \t]*(?P<words>.*)$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://|#)+[ \t]?(?P<words>.*)$")
_BLOCK = re.compile(
    r"^[ ]{0,3}(?P<mark>`{3,})[^\n`]*\n(?P<text>.*?)(?:^[ ]{0,3}(?P=mark)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_ROW = re.compile(r"\[.*\]$", re.DOTALL)
_LEFT_OUT = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\]|\[…\])\s*|[\"”]\s*(?:and|,|;|\+|/)?\s*[\"“](?=\w)")
_STEM = "examined"
_OWN_PART = re.compile(
    r"^(?P<before>test[_-]|Test)?(?P<stem>.*?)(?P<after>(?:[._-](?:test|spec|tests))|Tests?|_test)?$"
)
_SHORTEST = 4
"""Characters of a quotation that can name a demand."""


def file_in(answer: str) -> str:
    """Give the test file of an answer: its longest fenced block; "" where there is none."""
    blocks = [found["text"] for found in _BLOCK.finditer(answer)]
    return max(blocks, key=len, default="").rstrip() + "\n" if any(map(str.strip, blocks)) else ""


def place_beside(suite: Sequence[str], taken: Callable[[str], bool], fallback: str) -> str:
    """Name a new test file so that the project's runner finds it: beside the first file of the suite, called as that one is.

    Args:
        suite: paths of test files of the run.
        taken: whether a path is there already.
        fallback: the path where there is no suite.
    """
    for path in suite:
        file = PurePosixPath(path)
        base, suffix = file.name.partition(".")[0], "".join(file.suffixes)
        parts = _OWN_PART.match(base)
        before, after = (parts["before"] or "", parts["after"] or "") if parts else ("", "")
        stem = _STEM.capitalize() if before == "Test" or after in ("Test", "Tests") else _STEM
        return _free(str(file.with_name(f"{before}{stem}{after}{suffix}")), taken)
    return _free(fallback, taken)


def says_and_code(text: str, test: str) -> tuple[str, str]:
    """Give the words of the request that stand above a test, and the test with its comment; ("", "") where it cannot be found.

    Args:
        text: the file.
        test: the id that the runner gave it.
    """
    name = _ROW.sub("", re.split(r"::| > ", test)[-1]).strip()
    here = (
        re.search(rf"^(?P<indent>[ \t]*)(?![ \t]|//|#[^\[]).*?(?<!\w){re.escape(name)}(?!\w)", text, re.MULTILINE)
        if name
        else None
    )
    if here is None:
        return "", ""
    indent, starts = len(here["indent"]), list(_SAYS.finditer(text))
    above = [one for one in starts if one.start() < here.start() and _indent(one) == indent]
    inside = [one for one in starts if one.start() > here.start() and _indent(one) > indent]
    said = above[-1] if above else inside[0] if inside else None
    if said is None:
        return "", ""
    first = min(said.start(), here.start())
    last = min((one.start() for one in starts if one.start() > max(said.start(), here.start())), default=len(text))
    return _words(text[said.start() :].split("\n")), text[first:last].strip("\n").rstrip()


def stands_in(quote: str, request: str) -> bool:
    """Tell whether words are a verbatim quotation of the request; spaces, quotes and what "..." leaves out do not count."""
    said = _plain(request)
    parts = [_plain(part) for part in _LEFT_OUT.split(quote)]
    return any(len(part) >= _SHORTEST for part in parts) and all(part in said for part in parts)


def _words(lines: Sequence[str]) -> str:
    """The quotation of a comment, which may go on over some lines."""
    words = [_SAYS.match(lines[0])["words"]]  # type: ignore[index] # the block begins with it
    for line in lines[1:]:
        more = _COMMENT.match(line)
        if more is None:
            break
        words.append(more["words"])
    return " ".join(" ".join(words).split()).strip("\"'`“”")


def _indent(said: re.Match[str]) -> int:
    return len(said[0]) - len(said[0].lstrip())


def _plain(text: str) -> str:
    return re.sub(r"[\s\"'`“”‘’*_]+", " ", text).strip(" .,;:").lower()


def _free(path: str, taken: Callable[[str], bool]) -> str:
    file, number = PurePosixPath(path), 2
    found = path
    while taken(found):
        found = str(
            file.with_name(
                file.name.replace(_STEM, f"{_STEM}{number}").replace(
                    _STEM.capitalize(), f"{_STEM.capitalize()}{number}"
                )
            )
        )
        number += 1
    return found
