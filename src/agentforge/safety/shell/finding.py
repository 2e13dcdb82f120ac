"""find, fd and xargs: programs that run other commands over what they find or read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentforge.safety.shell.classes import CommandClass as Kind
from agentforge.safety.shell.classes import Judged
from agentforge.safety.shell.options import skip_options
from agentforge.safety.shell.syntax import Word

Run = Callable[[Sequence[Word]], tuple[Judged, ...]]
"""Judges a command that is run by another one."""


def judge_find(words: Sequence[Word], run: Run) -> tuple[Judged, ...]:
    """Judge `find ...` with its actions."""
    starts = []
    for word in words[1:]:
        if word.known.startswith(("-", "(", "!", ")")):
            break
        starts.append(word)
    found = [Judged(kind=Kind.READ_ONLY, reason="find only lists", name="find", argv=tuple(words), reads=tuple(starts))]
    rest = list(words[1 + len(starts) :])
    while rest:
        word = rest.pop(0)
        text = word.known
        if text.startswith("\0") or (word.value is None and text.startswith("-")):
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
            found += _executed(rest[:end], starts, run)
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
        filled += [*starts] if word.value == "{}" and starts else [word]
    judged = run(filled)
    return tuple(
        replace(one, kind=Kind.DESTRUCTIVE) if one.kind is Kind.WRITE and one.name == "rm" else one for one in judged
    )


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
    reads = tuple(word for word in given[:place] if not word.known.startswith("-"))[1:]
    own = Judged(kind=Kind.READ_ONLY, reason="fd only lists", name="fd", argv=tuple(words), reads=reads)
    if place is None:
        return (own,)
    return (own, *run((*given[place + 1 :], Word(text="...", pieces=(None,)))))


def judge_xargs(words: Sequence[Word], run: Run) -> tuple[Judged, ...]:
    """Judge `xargs COMMAND`: the command with words that only the run knows."""
    inner = skip_options(
        words, valued=("-n", "-P", "-I", "-L", "-d", "-s", "-a", "-E", "--max-args", "--max-procs", "--delimiter")
    )
    if inner is None:
        return (Judged(kind=Kind.UNKNOWN, reason="what xargs runs is known only at run time", argv=tuple(words)),)
    if not inner:
        return (Judged(kind=Kind.READ_ONLY, reason="xargs prints what it reads", name="xargs", argv=tuple(words)),)
    return run((*inner, Word(text="...", pieces=(None,))))
