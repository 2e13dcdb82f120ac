"""Reading the arguments of a command: options, their values, and what is left."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from agentforge.frozen import dataclass
from agentforge.safety.shell.grammar.syntax import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Arguments sorted the way getopt would.

    Attributes:
        options: names without value, in order: "-r", "--force"; grouped letters are taken apart ("-rf" is "-r" and "-f").
        values: (name, value word) of options that take one, joined or apart.
        operands: what is left.
        dynamic: a word whose beginning is known only at run time ($x, *), so that it may be an option.
    """

    options: tuple[str, ...]
    values: tuple[tuple[str, Word], ...]
    operands: tuple[Word, ...]
    dynamic: bool

    def has(self, *names: str) -> bool:
        """Whether one of the options is given, with or without a value; long ones may be cut short (--out for --output)."""
        given = (*self.options, *(name for name, _ in self.values))
        return any(_is(one, name) for one in given for name in names)

    def only(self, allowed: Collection[str]) -> bool:
        """Whether every option is one of these, written in full."""
        given = (*self.options, *(name for name, _ in self.values))
        return all(name in allowed for name in given if name.startswith("--") or len(name) == 2)

    def of(self, *names: str) -> tuple[Word, ...]:
        """The values of these options."""
        return tuple(word for one, word in self.values if any(_is(one, name) for name in names))


def sort_arguments(words: Sequence[Word], *, valued: Collection[str] = ()) -> Arguments:
    """Sort the words after a command's name.

    Args:
        valued: options that take the next word as their value: "-n", "--lines".
    """
    options: list[str] = []
    values: list[tuple[str, Word]] = []
    operands: list[Word] = []
    dynamic = only_operands = False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        text = word.known
        dynamic |= word.splits and not only_operands
        if only_operands or not text.startswith("-") or text == "-":
            dynamic |= not only_operands and (text.startswith("\0") or (word.glob and text[:1] in ("*", "?", "[")))
            operands.append(word)
        elif text == "--":
            only_operands = True
        elif text.startswith("--"):
            name, joined, _ = text.partition("=")
            if joined:
                values.append((name, tail(word, len(name) + 1)))
            elif name in valued and rest:
                values.append((name, rest.pop(0)))
            else:
                options.append(name)
        else:
            _letters(word, rest, valued, options, values)
    return Arguments(options=tuple(options), values=tuple(values), operands=tuple(operands), dynamic=dynamic)


def tail(word: Word, length: int) -> Word:
    """The word without its first `length` characters; what stands there is literal."""
    pieces = list(word.pieces)
    while pieces and length:
        first = pieces[0] or ""
        cut = min(length, len(first))
        pieces[0], length = first[cut:], length - cut
        if not pieces[0]:
            pieces.pop(0)
        if not cut:
            break
    tilde = bool(pieces) and (pieces[0] or "").startswith("~") and not word.text.startswith(("'", '"'))
    return replace(word, pieces=tuple(pieces), tilde=tilde)


def _letters(
    word: Word, rest: list[Word], valued: Collection[str], options: list[str], values: list[tuple[str, Word]]
) -> None:
    text = word.known
    if text in valued:  # also single-dash long options: find -name
        if rest:
            values.append((text, rest.pop(0)))
        return
    for place, letter in enumerate(text[1:], start=1):
        name = f"-{letter}"
        if name in valued:
            left = tail(word, place + 1)
            values.append((name, left if left.pieces else (rest.pop(0) if rest else left)))
            return
        options.append(name)
    if len(text) > 2:
        options.append(text)


def _is(given: str, name: str) -> bool:
    """A long option may be abbreviated; what could mean the dangerous one is taken for it."""
    return given == name or (given.startswith("--") and len(given) > 3 and name.startswith(given))


def skip_options(
    words: Sequence[Word], *, valued: tuple[str, ...] = (), flags: tuple[str, ...] | None = None, operands: int = 0
) -> tuple[Word, ...] | None:
    """The words after a wrapper's own options and operands; None when they are not plain.

    Args:
        words: the wrapper's name first.
        flags: patterns of the options without value that are known; None takes every one.
        operands: how many words of its own follow the options (the seconds of `timeout`).
    """
    rest = list(words[1:])
    while rest and rest[0].known.startswith("-") and rest[0].known != "-":
        option = rest.pop(0)
        if option.value is None:
            return None
        if option.value == "--":
            break
        if option.value in valued:
            if not rest:
                return None
            rest.pop(0)
        elif flags is not None and not any(re.fullmatch(flag, option.value) for flag in flags):
            return None
    if any(word.value is None for word in rest[:operands]):
        return None
    return tuple(rest[operands:])
