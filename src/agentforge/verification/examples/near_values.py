"""Values that stand in a text, in whatever language it is written, and the calls beside them. Pure; no word is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType

from agentforge.verification.examples.prose import placeholder_in

_SPAN = re.compile(r"(`{1,2})(?!`)(?P<code>[^`]+)\1(?!`)")
_CALL = re.compile(r"(?<![\w.$'\"])(?:(?:new|await)\s+)?[A-Za-z_$][\w$.]*\(")
_MORE = re.compile(r"\.[A-Za-z_$][\w$]*(?![\w$])")
_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\\n]|\\.)*'(?!\w)|\"(?:[^\"\\\n]|\\.)*\"")
_MARKS = re.compile(r"«([^«»\n]+)»|“([^“”\n]+)”|„([^„“”\n]+)[“”]|「([^「」\n]+)」|『([^『』\n]+)』|‹([^‹›\n]+)›")
_NUMBER = re.compile(r"(?<![\w.#$/-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w/%-])(?!\.\d)")
_CONSTANT = re.compile(r"(?<![\w.$])(?:None|True|False|null|undefined|true|false|NaN)(?![\w$])")
_ERROR = re.compile(
    r"(?<![\w.$])(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|StopIteration)|Error)(?!\w)"
)
_RAISED = re.compile(rf"\s*{_ERROR.pattern}(?::|\s*\Z)")
_COMPARED = re.compile(r"(?:!==?|<=?|(?<![-=])>=?|≠|≤|≥)\s*\Z")
_ABOUT = re.compile(r"\s*(?:\.\.\.|…)")
_OPENS, _CLOSES = "([{", ")]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearValue:
    """A value that stands in a text.

    Attributes:
        source: as Python source; of an exception its name; of a code span that is no code its text.
        kind: value, error or text.
        set_off: whether it stands in code, in quotes or in brackets; a number of a sentence does not.
        about: whether the text says that it goes on: `82.22...`.
        place: where it begins.
        inside: where the brackets of the sentence begin that it stands in, the outermost first.
        of: the call that it is passed to, as in `assertEqual(f(1), 3)`; it counts where that is no call of the project.
        written: how a list or a mapping is written; a call may give it as a text.
    """

    source: str
    kind: str = "value"
    set_off: bool = True
    about: bool = False
    place: int = 0
    inside: tuple[int, ...] = ()
    of: str = ""
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearCall:
    """A call that stands in a text: its source, where it begins and ends, and where the brackets begin that it stands in.

    Attributes:
        of: the call that it is passed to.
    """

    source: str
    start: int
    end: int
    inside: tuple[int, ...] = ()
    of: str = ""


def calls_in(text: str, reader: ModuleType, *, of: str = "") -> list[NearCall]:
    """The calls of a text that can be evaluated, each as long as it goes, and those that are passed to another call."""
    found: list[NearCall] = []
    for start, end in _called(text):
        ends = _ends(text, end)
        sources = {stop: reader.call_source(" ".join(text[start:stop].split())) for stop in reversed(ends)}
        whole = next((stop for stop, source in sources.items() if source is not None), 0)
        if whole:
            found.append(
                NearCall(source=sources[whole], start=start, end=whole, inside=_brackets_at(text, start), of=of)
            )
        for first, piece in _passed(text, start, ends[-1]):
            inner = calls_in(piece, reader, of=sources.get(whole) or _UNKNOWN)
            found += [replace(one, start=one.start + first, end=one.end + first, inside=()) for one in inner]
    return found


_UNKNOWN = "?"
"""A call that cannot be evaluated."""


def _passed(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """What is passed to a call, where another call is in it."""
    first = text.index("(", start) + 1
    if any(True for _ in _called(text[first:end])):
        yield first, text[first:end]


def values_in(text: str, reader: ModuleType, *, code: bool = False) -> list[NearValue]:
    """The values of a text without the calls in it and what is passed to them; but for what is passed beside another call.

    Args:
        code: the whole text is code.
    """
    masked = list(text)
    for start, end in _called(text):
        stop = _ends(text, end)[-1]
        masked[start:stop] = "\0" * (stop - start)
    bare = "".join(masked)
    error = _RAISED.match(text) if code else None
    if error is not None:
        return [NearValue(source=error[1], kind="error")]
    prose = _QUOTED.sub(" ", _SPAN.sub(" ", bare))
    found = [
        replace(one, inside=_brackets_at(text, one.place))
        for one in _values(bare, reader, set_off=code)
        if not placeholder_in(one.source, prose)
    ]
    for start, end in _called(text):
        stops = _ends(text, end)
        sources = (reader.call_source(" ".join(text[start:stop].split())) for stop in reversed(stops))
        of = next((one for one in sources if one is not None), _UNKNOWN)
        for first, piece in _passed(text, start, stops[-1]):
            found += [
                replace(one, of=one.of or of, place=one.place + first) for one in values_in(piece, reader, code=True)
            ]
    return found


def _brackets_at(text: str, place: int) -> tuple[int, ...]:
    """Where the round brackets begin that are open at a place of a sentence."""
    found: list[int] = []
    for number, sign in enumerate(text[:place]):
        if sign == "(":
            found.append(number)
        elif sign == ")" and found:
            found.pop()
    return tuple(found)


def _values(text: str, reader: ModuleType, *, set_off: bool) -> Iterator[NearValue]:
    place = 0
    while place < len(text):
        span = None if set_off else _SPAN.match(text, place)
        if span is not None:
            yield from _of_span(span["code"], reader, place)
            place = span.end()
            continue
        found, place = _at(text, place, reader, set_off=set_off)
        if found is not None:
            yield found


def _of_span(code: str, reader: ModuleType, place: int) -> Iterator[NearValue]:
    bare = code.strip()
    if not bare.strip("\0"):
        return
    value, error = reader.literal_source(bare), _ERROR.match(bare)
    if error is not None:
        yield NearValue(source=error[1], kind="error", place=place)
        return
    if value is not None:
        if not placeholder_in(bare, ""):
            yield NearValue(source=value, place=place, written=bare if bare[0] in "[{" else "")
        return
    if "\0" in bare:
        yield from (
            NearValue(source=one.source, kind=one.kind, about=one.about, place=place + one.place)
            for one in _values(bare, reader, set_off=True)
        )
    else:
        yield NearValue(source=bare, kind="text", place=place)


def _at(text: str, place: int, reader: ModuleType, *, set_off: bool) -> tuple[NearValue | None, int]:
    """The value that begins at a place, and where to look on."""
    sign = text[place]
    compared = _COMPARED.search(text[max(0, place - 6) : place]) is not None
    if sign in _OPENS:
        end = closed(text, place)
        value = reader.literal_source(text[place:end]) if end and "\0" not in text[place:end] else None
        if (value is not None and sign != "(") or (value or "").startswith("("):
            keep = (
                None if compared or placeholder_in(text[place:end], "") else NearValue(source=value or "", place=place)
            )
            return keep, end
        left_out = end and sign != "(" and placeholder_in(text[place:end], "")
        return None, end if left_out else place + 1
    marks = None if set_off else _MARKS.match(text, place)
    if marks is not None and "\0" not in marks.group():
        said = next(one for one in marks.groups() if one is not None).strip()
        return NearValue(source=repr(said), place=place), marks.end()
    for pattern in (_QUOTED, _NUMBER, _CONSTANT):
        match = pattern.match(text, place)
        if match is None:
            continue
        if match.group() == "NaN":  # it equals nothing
            return NearValue(source="nan", kind="text", place=place), match.end()
        if match.group() == "null" and reader.literal_source("undefined") is None:  # German for zero
            return None, match.end()
        value = reader.literal_source(match.group())
        if value is None or compared or placeholder_in(match.group(), ""):
            return None, match.end()
        error = _ERROR.match(match.group()[1:]) if pattern is _QUOTED else None
        if error is not None:  # "TypeError: nothing there"
            return NearValue(source=error[1], kind="error", place=place), match.end()
        return (
            NearValue(
                source=value,
                set_off=set_off or pattern is _QUOTED,
                about=_ABOUT.match(text, match.end()) is not None
                or (text[max(0, place - 1) : place] in "~≈" and place > 0),
                place=place,
            ),
            match.end(),
        )
    error = _ERROR.match(text, place)
    if error is not None:
        return NearValue(source=error[1], kind="error", place=place), error.end()
    return None, place + 1


def _called(text: str) -> Iterator[tuple[int, int]]:
    """Where calls begin, and where the brackets of their arguments end; none inside of another."""
    last = 0
    for match in _CALL.finditer(text):
        end = closed(text, match.end() - 1)
        if end and match.start() >= last:
            yield match.start(), end
            last = _ends(text, end)[-1]


def _ends(text: str, end: int) -> list[int]:
    """Where a call may end, the shortest first: behind its brackets, and behind what is taken or called of its result."""
    ends = [end]
    while True:
        more = _MORE.match(text, end)
        place = more.end() if more is not None else end
        behind = closed(text, place) if text[place : place + 1] in ("(", "[") else 0
        if more is None and not behind:
            return ends
        end = behind or place
        ends.append(end)


def closed(text: str, start: int) -> int:
    """Find the place behind the bracket that closes the one at `start`; 0 where none does."""
    depth, place = 0, start
    while place < len(text):
        quoted = _QUOTED.match(text, place)
        if quoted:
            place = quoted.end()
            continue
        depth += (text[place] in _OPENS) - (text[place] in _CLOSES)
        place += 1
        if depth == 0:
            return place
    return 0
