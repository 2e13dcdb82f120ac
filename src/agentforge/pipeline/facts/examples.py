"""Examples of a request: do they stand in it word for word, and is each asserted by a test? Pure text work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentforge.frozen import dataclass
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.near_values import calls_in
from agentforge.verification.examples.prose import placeholder_in
from agentforge.verification.examples.stated_values import unescaped

_LITERAL = re.compile(
    r"\"{3}|'{3}|(?<!\w)[bru]{0,2}'(?:[^'\\\n]|\\.|\n(?!\s*\n))*'|\"(?:[^\"\\\n]|\\.|\n(?!\s*\n))*\"|(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])"
)
"""A text, which a line break may cross, or a number; the apostrophe of a word begins none, and what three quotes hold is many."""
_CODE = re.compile(r"(?<![`\\])(?P<ticks>`+)(?!`)(?P<inside>[^\n]+?)(?<!`)(?P=ticks)(?!`)")
_TOKEN = re.compile(f"{_CODE.pattern}|{_LITERAL.pattern}")
_BARE = re.compile(r"['\"\\]")
"""What a code span without any literal holds when it is no code but plain text."""
_CONSTANTS = ("None", "True", "False", "null", "undefined", "true", "false", "NaN", "nil")
"""A test asserts these without writing them."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_TRIPLE = ("'" * 3, '"' * 3)
_BREAK = r"(?:\s|\\n|[\"']\s*[\"'])+"
"""What a test may have where a line of the request breaks: white space, its escape, or the quotes of a text in two parts."""


def stands_in(example: str, request: str) -> bool:
    """Tell whether the example is in the request, character by character but for white space at line ends and runs of it."""
    return bool(example.strip()) and _squeeze(example) in _squeeze(request)


def told_in(example: str, criteria: Sequence[str]) -> bool:
    """Tell whether the criteria hold an example: its words, or every value that it names; one without values cannot be missed."""
    said = "\n".join(criteria)
    return stands_in(example, said) or all(
        any(_whole(one, f"{said}\n{unescaped(said)}") for one in _spellings(value)) for value in _values(example)
    )


def is_kept(example: str, criteria: Sequence[str]) -> bool:
    """Tell whether an example needs no further criterion: the criteria hold it, or the harness can run it itself.

    What is run decides by its result; the base tells which results are only reported of today.
    """
    return bool(claims.claims_in(example) or claims_javascript.claims_in(example)) or told_in(example, criteria)


def calls_something(example: str) -> bool:
    """Tell whether a call stands in an example, in a language that the harness can run."""
    return any(calls_in(example, reader) for reader in (claims, claims_javascript))


def literals(example: str) -> list[str]:
    """The string and number literals of an example, without their quotes and without those that hold a placeholder.

    Of the row of a table whose code is no code but plain text, such as `'{x,y}`, the code spans as they are.
    """
    return [one.text for one in _values(example)]


def missing_in(example: str, stated: str) -> list[str]:
    """The values of an example that do not occur in what test files state, or only as a piece of a longer word or number.

    Args:
        stated: what `stated_in` gives of each file.
    """
    return [one.text for one in _values(example) if not _occurs(one, stated)]


def asserted_in(example: str, stated: str) -> bool:
    """Tell whether every value of the example occurs in what test files state; so it does where the example has none."""
    return not missing_in(example, stated)


def touched_in(example: str, stated: str) -> bool:
    """Tell whether one of the texts of an example occurs in what test files state; so it does where it has none but numbers."""
    told = [one for one in _values(example) if not _NUMBER.fullmatch(one.text)]
    return not told or any(_occurs(one, stated) for one in told)


def value_asserted_in(value: str, stated: str) -> bool:
    """Tell whether a value without its quotes occurs in what test files state."""
    return _occurs(_Value(text=value, quoted=True), stated)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A value of an example; quoted = it stood between quotes, so that it may hold escapes."""

    text: str
    quoted: bool


def _values(example: str) -> list[_Value]:
    prose = _LITERAL.sub(" ", example)
    found: list[_Value] = []
    plain: list[str] = []
    for line in example.split("\n"):
        if "|" in _CODE.sub(" ", line) and _CODE.search(line):
            found += [*_quoted("\n".join(plain)), *_of_row(line)]
            plain = []
        else:
            plain.append(line)
    found += _quoted("\n".join(plain))
    return [one for one in found if not placeholder_in(one.text, prose if one.quoted else _CODE.sub(" ", prose))]


def _quoted(text: str) -> Iterator[_Value]:
    """The literals of a text; those of its code end where the code ends."""
    for match in _TOKEN.finditer(text):
        if match.group("inside") is not None:
            yield from _quoted(match.group("inside"))
            continue
        said = match.group().lstrip("bru")
        if said not in _TRIPLE:
            yield _Value(text=said[1:-1] if said[:1] in "'\"" else said, quoted=True)


def _of_row(line: str) -> Iterator[_Value]:
    """The values of the row of a table, cell by cell."""
    spans = [match.group("inside").replace("\\|", "|") for match in _CODE.finditer(line)]
    data = any(_BARE.search(one) and not any(_quoted(one)) for one in spans)
    masked = _CODE.sub(lambda match: "\0" * len(match.group()), line)
    start = 0
    for end in (*(match.start() for match in re.finditer(r"(?<!\\)\|", masked)), len(line)):
        cell, last = line[start:end], 0
        for match in _CODE.finditer(cell):
            yield from _quoted(cell[last : match.start()])
            last, inside = match.end(), match.group("inside").replace("\\|", "|")
            if not data or any(_quoted(inside)):
                yield from _quoted(inside)
            elif inside.strip() not in _CONSTANTS:
                yield _Value(text=inside, quoted=False)
        yield from _quoted(cell[last:])
        start = end + 1


def _occurs(value: _Value, stated: str) -> bool:
    flat = stated.replace("\\n", "\n").replace("\\t", "\t")
    return any(_whole(one, stated) or _whole(one, flat) for one in _spellings(value))


def _spellings(value: _Value) -> set[str]:
    """How the value may stand in a text: as it is, and with its escapes undone."""
    found = {value.text, value.text.replace("\\n", "\n").replace("\\t", "\t")}
    if value.quoted:
        found |= {unescaped(value.text), re.sub(r"\\(.)", r"\1", value.text)}
    return found


def _whole(item: str, text: str) -> bool:
    """Tell whether the item stands in the text with no letter or digit that goes on at either end.

    Where a line of the request breaks in it, any white space may stand.
    """
    before = r"(?<!\w)" if re.match(r"\w", item) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", item) else ""
    parts = re.split(r"\s*\n\s*", item) if "\n" in item else [item]
    return re.search(f"{before}{_BREAK.join(map(re.escape, parts))}{after}", text) is not None


def _squeeze(text: str) -> str:
    return " ".join(text.split())
