"""find, fd and xargs: programs that run other commands over what they find or read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import pairwise

from agentforge.safety.shell.grammar.options import skip_options, sort_arguments, tail
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

Run = Callable[[Sequence[Word]], tuple[Judged, ...]]
"""Judges a command that is run by another one."""


def judge_find(words: Sequence[Word], run: Run) -> tuple[Judged, ...]:
    """Judge `find ...` with its actions."""
    starts = []
    for word in words[1:]:
        if word.known.startswith(("-", "(", "!", ")")):
            break
        starts.append(word)
    deep = any(word.known.startswith(("-exec", "-ok")) for word in words)
    found = [
        Judged(
            kind=Kind.READ_ONLY,
            reason="find only lists",
            name="find",
            argv=tuple(words),
            reads=tuple(starts),
            deep=deep,
        )
    ]
    if any(word.splits for word in starts):
        found.append(
            Judged(kind=Kind.UNKNOWN, reason="a start that only the run knows may be an action", argv=tuple(words))
        )
    rest = list(words[1 + len(starts) :])
    sought = [after for word, after in pairwise(rest) if word.known in names("-name -iname -path -wholename")]
    while rest:
        word = rest.pop(0)
        text = word.known
        if word.splits or text.startswith("\0") or (word.value is None and text.startswith("-")):
            found.append(
                Judged(
                    kind=Kind.UNKNOWN, reason="an argument that only the run knows may be an action", argv=tuple(words)
                )
            )
        elif text == "-delete":
            found.append(
                Judged(
                    kind=Kind.DESTRUCTIVE,
                    reason="find -delete removes what it finds",
                    name="find",
                    argv=tuple(words),
                    writes=tuple(starts),
                )
            )
        elif text in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            found.append(
                Judged(
                    kind=Kind.WRITE,
                    reason=f"find {text} writes a file",
                    name="find",
                    argv=tuple(words),
                    writes=tuple(rest[:1]),
                )
            )
        elif text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((place for place, one in enumerate(rest) if one.value in (";", "+")), len(rest))
            found += _executed(rest[:end], [*starts, *sought], run)
            rest = rest[end + 1 :]
        elif text == "-files0-from":
            found.append(Judged(kind=Kind.UNKNOWN, reason="find reads where it starts from a file", argv=tuple(words)))
    return tuple(found)


def _executed(words: Sequence[Word], starts: Sequence[Word], run: Run) -> tuple[Judged, ...]:
    """What find -exec runs: {} is a path below the starting points, never an option."""
    if not words:
        return (Judged(kind=Kind.UNKNOWN, reason="find -exec without a command"),)
    filled: list[Word] = []
    for word in words:
        filled += [*starts] if word.value == "{}" and starts else [_with_unknown(word, "{}")]
    judged = run(filled)
    return tuple(
        replace(one, kind=Kind.DESTRUCTIVE) if one.kind is Kind.WRITE and one.name == "rm" else one for one in judged
    )


def _with_unknown(word: Word, marker: str) -> Word:
    """The word with every marker replaced by a part that only the run knows: a file's name may hold anything."""
    if not any(marker in piece for piece in word.pieces if piece is not None):
        return word
    pieces: list[str | None] = []
    for piece in word.pieces:
        for number, part in enumerate((piece or "").split(marker) if piece is not None else ()):
            pieces += [None, part] if number else [part]
        pieces += [None] if piece is None else []
    return replace(word, pieces=tuple(piece for piece in pieces if piece != ""))


def judge_fd(words: Sequence[Word], run: Run) -> tuple[Judged, ...]:
    """Judge `fd ...`, which may run a command for what it finds."""
    given = list(words[1:])
    place = next((at for at, word in enumerate(given) if word.known in ("-x", "-X", "--exec", "--exec-batch")), None)
    if any(
        word.value is None or re.match(r"-[a-zA-Z]*[xX]|--exec", word.known)
        for at, word in enumerate(given)
        if at != place and (place is None or at < place)
    ):
        return (Judged(kind=Kind.UNKNOWN, reason="fd may run a command by this option", argv=tuple(words)),)
    plain = [word for word in given[:place] if not word.known.startswith("-")]
    reads = tuple(word for number, word in enumerate(plain) if number or "/" in word.known)
    reads += tuple(tail(word, word.known.find("=") + 1) for word in given[:place] if word.known.startswith("--"))
    own = Judged(kind=Kind.READ_ONLY, reason="fd only lists", name="fd", argv=tuple(words), reads=reads)
    if place is None:
        return (own,)
    filled = list(given[place + 1 :])
    for marker in ("{}", "{/}", "{//}", "{.}", "{/.}"):
        filled = [_with_unknown(word, marker) for word in filled]
    return (own, *run((*filled, Word(text="...", pieces=(None,)))))


def judge_xargs(words: Sequence[Word], run: Run) -> tuple[Judged, ...]:
    """Judge `xargs COMMAND`: the command with words that only the run knows."""
    inner = skip_options(words, valued=_XARGS_VALUED, flags=_XARGS_FLAGS)
    if inner is None:
        return (Judged(kind=Kind.UNKNOWN, reason="what xargs runs is known only at run time", argv=tuple(words)),)
    if not inner:
        return (Judged(kind=Kind.READ_ONLY, reason="xargs prints what it reads", name="xargs", argv=tuple(words)),)
    own = words[: len(words) - len(inner)]
    given = sort_arguments(own[1:], valued=_XARGS_VALUED)
    filled = list(inner)
    markers = [word.known for word in given.of("-I")] + (["{}"] if given.has("-i", "--replace") else [])
    for marker in markers:
        filled = [_with_unknown(word, marker) for word in filled] if marker else [Word(text="?", pieces=(None,))]
    lists = given.of("-a", "--arg-file")
    listed = (
        (Judged(kind=Kind.READ_ONLY, reason="xargs reads its list", argv=tuple(words), reads=lists),) if lists else ()
    )
    fed = words[0].fed
    last = Word(text=fed, pieces=(fed,), glob=True, splits=True) if fed else Word(text="...", pieces=(None,))
    return (*listed, *run((*filled, last)))


_XARGS_VALUED = names("-n -P -I -L -d -s -a -E --max-args --max-procs --delimiter --arg-file")
_XARGS_FLAGS = (
    *("-[0rtx]+", r"-[nPLs]\d+", "-I\\S+", "-d.+", "-i", "--null", "--no-run-if-empty", "--verbose", "--replace"),
    *(r"--max-(?:args|procs|lines|chars)=\d+", "--delimiter=.+", "--arg-file=.+"),
)


def fed_by(words: Sequence[Word]) -> str:
    """What the paths look like that a listing command prints; "" where it may print anything."""
    values = [word.value for word in words]
    if not values or any(value is None for value in values):
        return ""
    text = [value for value in values if value is not None]
    if text[:2] == ["git", "ls-files"] or (text[:2] in (["git", "diff"], ["git", "show"]) and "--name-only" in text):
        return "./*"
    if text[0] in ("rg", "grep") and any(
        re.fullmatch(r"-[a-zA-Z]*l[a-zA-Z]*|--files(?:-with-matches)?", one) for one in text
    ):
        outside = any(one.startswith(("/", "~", "..")) for one in text[1:])
        return "" if outside else "./*"
    if text[0] == "find" and len(text) > 1 and not text[1].startswith(("/", "~", "..", "-")) and "-printf" not in text:
        patterns = [after for one, after in pairwise(text) if one == "-name"]
        if any(fnmatchcase(".env", pattern) for pattern in patterns if pattern != "*"):
            return ""
        return f"./{patterns[0]}" if len(patterns) == 1 and "-o" not in text and "!" not in text else "./*"
    return ""
