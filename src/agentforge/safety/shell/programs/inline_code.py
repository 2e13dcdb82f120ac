"""Code and files that reach a builder or checker by its line or its input instead of by the project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from agentforge.guarded import NEVER, is_masked
from agentforge.safety.shell.grammar.options import tail
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

_RECIPES = frozenset(names("make gmake ninja rake nox tox ant doxygen just task gradle gradlew mvn mvnw meson bazel"))
_INPUT = re.compile(r"(?:.*[=:,]|-[a-zA-Z]{1,2})?(?:/dev/(?:stdin|fd/\d+)|/proc/[^/]+/fd/\d+)")
_DASH = re.compile(r"-|-[a-zA-Z]-|--[\w-]+=-")
_DATA = re.compile(r"(?i)(?:^|[=,:@])data:[\w/+.;=-]*,")
_GLUED = re.compile(r"-[A-Za-z]{1,2}(?=[./~])")
_REPORTING = re.compile(r"(?i)--?[\w.-]*(?:report|out|log|save|dump|record|junit|html|xml)[\w.-]*")


def handed_code(name: str, words: Sequence[Word]) -> Judged | None:
    """Judge a program that is handed what it runs: from its input, or as a `data:` address; None when it is not.

    Args:
        words: the arguments after the name.
    """
    for word in words:
        if _INPUT.fullmatch(word.known) or (name in _RECIPES and _DASH.fullmatch(word.known)):
            return Judged(kind=Kind.UNKNOWN, reason=f"{name} takes what it runs from its input")
        if word.text.startswith("<(") and word.value is None:
            return Judged(kind=Kind.UNKNOWN, reason=f"{name} takes what it runs from what a command prints")
        if _DATA.search(word.known):
            return Judged(kind=Kind.UNKNOWN, reason=f"{name} is given code in {word.known[:40]!r}")
    return None


def secrets_in(words: Sequence[Word]) -> Iterator[Word]:
    """The arguments, or what stands behind a sign in them, that name files which hold secrets."""
    for word in words:
        for start in _starts(word):
            text = word.known[start:]
            if "." in basename(text) and is_masked(text):
                yield tail(word, start)


def steering_paths(words: Sequence[Word]) -> Iterator[Word]:
    """What is written where git or the harness is steered from, or as a report: `-MF.git/x`, `--cov-report=xml:.git/x`."""
    for place, word in enumerate(words):
        before = words[place - 1].known if place else ""
        reports = _REPORTING.fullmatch(word.known.partition("=")[0]) or _REPORTING.fullmatch(before)
        for start in _starts(word):
            steers = any(part.casefold() in NEVER for part in word.known[start:].split("/"))
            if steers or (start and reports and word.known[start - 1] == ":"):
                yield tail(word, start)


def _starts(word: Word) -> list[int]:
    """Where a path may begin in an argument: at its front, behind a short option, behind `=`, `:` and `,`."""
    glued = _GLUED.match(word.known)
    return [0, *([glued.end()] if glued else []), *(one.end() for one in re.finditer("[=:,]", word.known))]
