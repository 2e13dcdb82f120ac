"""What a text tells of today and what it asks for: "gives 851, it should be 851000". The one reader of that difference. Pure.

A report of a defect names the wrong result beside the right one, in any order and over any line breaks. The text is cut into
clauses; each is told by its own words, by the heading above it, or by the clause that contradicts it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal

from agentforge.frozen import dataclass

Tense = Literal["wanted", "observed", "plain", "open"]
"""wanted = asked for; observed = how it is today, and not asked for; plain = said of the thing, which is how requests ask, too;
open = one of two results, and the words do not say which is right."""

_WANTED = re.compile(
    r"(?i)(?<![\w-])(?:should(?!\s*(?:n[o']t|not)\b)|must(?!\s*not\b)|shall|ought\s+to|supposed\s+to|expect(?:ed|s|ing)?|wants?|wanted|desired|"
    r"correct(?:ly)?|right\s+(?:result|answer|value|output)|(?:is|are)\s+right|needs?\s+to|have\s+to|has\s+to|would\s+(?:like|be|expect|want)|"
    r"will|after\s+the\s+(?:fix|change)|make\s+(?:it|that|this)|change\s+(?:it|that|this)?\s*to|i'd\s+expect)\b"
)
_OBSERVED = re.compile(
    r"(?i)(?<![\w-])(?:currently|today|at\s+the\s+moment|at\s+present|right\s+now|as\s+of\s+now|nowadays|now|presently|actual(?:ly)?|observed|"
    r"got|getting|i\s+get|we\s+get|you\s+get|wrong(?:ly)?|incorrect(?:ly)?|mistaken(?:ly)?|erroneous(?:ly)?|bug(?:gy)?|broken|"
    r"should\s*(?:n[o']t|not)|must\s+not|unexpected(?:ly)?|surprising(?:ly)?|crash(?:es|ed|ing)?|fails?|failed|failing|before\s+the\s+"
    r"(?:fix|change)|until\s+now|so\s+far|used\s+to|reports?|still)\b"
)
_NEGATED_WANT = re.compile(
    r"(?i)\b(?:should\s*(?:n[o']t|not)|must\s+not|not\s+(?:expected|what\s+\w+\s+(?:want|expect)))\b"
)
_SIGN = re.compile("[\"`'\\[]")
_HEAD = re.compile(
    r"(?im)^[ \t]*(?:#+[ \t]*|\*{1,2}|[-*][ \t]+)?(?P<head>[A-Za-z][A-Za-z' ]{2,40}?)\*{0,2}[ \t]*(?::|$)\*{0,2}"
)
_HEAD_OBSERVED = re.compile(
    r"(?i)^(?:the\s+)?(?:actual(?:ly)?|current(?:ly)?|observed|got|today|now|before|what\s+(?:happens|i\s+get|i\s+see|we\s+get)|wrong|bad|"
    r"present|existing|error|traceback)\b"
)
_HEAD_WANTED = re.compile(
    r"(?i)^(?:the\s+)?(?:expected|desired|wanted|should\b|after|correct|what\s+(?:i|we)\s+(?:expect|want)|what\s+should|goal|proposed|"
    r"proposal|right|good|acceptance)\b"
)
_CUT = re.compile(
    r"(?P<end>(?<=[.!?])(?:[ \t]+|[ \t]*\n)(?=[A-Z`\"'(\[>]|\bit\b|\Z)"
    r"|(?<=[.!?])[ \t]*\n(?=[ \t]*(?:[-*+]|\d+[.)])[ \t])|\n[ \t]*\n"
    r"|\n(?=[ \t]*#)|\s+[—–]\s+|\s+-{1,2}\s+(?=[a-z]))"
    r"|(?P<semicolon>;\s+)"
    r"|(?P<swap>,?\s+\b(?:instead\s+of|rather\s+than|in\s+place\s+of|as\s+opposed\s+to)\b\s*)"
    r"|(?P<but>,?\s*\b(?:but(?!\s+also)|whereas|while|yet|however|although|though|when|where)\b(?=[\s,])(?=[^.;\n]*\b(?:should|must|expect(?:ed|s)?|"
    r"want(?:s|ed)?|currently|actual|got|get|gives?|gave|returns?|prints?|raises?|is|was|it)\b))"
    r"|(?P<lead>(?:^|(?<=[.!?]\s)|(?<=\n))[ \t]*(?:instead\s+of|rather\s+than)\s+[^,\n]+,\s*)"
    r"|(?P<not>,?\s+\b(?:and\s+)?not\b\s+(?=[\"'`\[({\d-]|None|True|False))"
    r"|(?P<comma>,\s+(?=(?:it|that|this|which|the\s+\w+|and(?:\s+it)?|i|we|you)?\s*\b(?:should|must|ought|expect(?:ed)?|is\s+expected|would|wants?|"
    r"currently|got|actual(?:ly)?)\b)|\s*\((?=\s*(?:(?:it|i|we|this)\s+)?(?:should|must|would|ought|wants?|expect(?:ed)?|instead|wrong|currently|got|actual|\S+\s+is\s+(?:right|correct|wrong))\b)"
    r"|\s+and\s+(?=(?:it\s+)?(?:should|must|ought\s+to|shall)\s+(?:be|give|return|yield|print|show|produce|output|raise|throw|become)\b"
    r"(?!(?:[^.;\n]|\.(?=\w))*\b(?:for|when|if|where|with|on)\b))"
    r"|\n[ \t]*(?=(?:[#>*-]+[ \t]*)?(?:it|that|this|which|what(?:\s+(?:i|we|it))?|the\s+\w+|i|we|expected|actual|currently|got"
    r"|but|instead|now|today)?[\s,]*\b"
    r"(?:should|must|ought|expect(?:ed)?|would|wants?|currently|got|actual(?:ly)?|instead|today|now)\b))"
    r"|(?P<next>,?\s+and\s+(?=`?[A-Za-z_][\w.]*\())",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"['\"`]|\d|\b(?:None|True|False|null|true|false|undefined|NaN)\b|[\[{]|\b\w+(?:Error|Exception|Warning|Exit)\b"
)
_CALL = re.compile(r"[A-Za-z_][\w.]*\(")
_CALL_WITH = re.compile(r"[A-Za-z_][\w.]*\([^()]*\)")
_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\\n]|\\.)*'(?!\w)|\"(?:[^\"\\\n]|\\.)*\"")
_TABLE = re.compile(r"(?im)^[ \t]*\|.*\|[ \t]*(?:actual|current|observed|got|today|now|before)[ \t]*\|")
"""A table with a column for what is so today: which cell belongs to which column its reader cannot tell."""
_ALSO = re.compile(r"(?i)\b(?:also|too|as\s+well|in\s+addition|likewise)\b")
_RESULT = re.compile(
    r"(?i)(?:>>>|->|=>|==|→|\b(?:gives?|gave|returns?|returned|yields?|prints?|printed|traceback|produces?|produced|outputs?|results?\s+in|evaluates?\s+to|"
    r"raises?|raised|throws?|threw|shows?|becomes?|is|was|are|be)\b)"
)

_STATED = re.compile(f"{_CALL.pattern}.*?{_RESULT.pattern.removeprefix('(?i)')}", re.IGNORECASE | re.DOTALL)
"""A call and that something comes of it: only behind such a statement does `and g(2)` begin the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a text, from `start` to `end`, and what it tells of."""

    start: int
    end: int
    text: str
    tense: Tense


_Part = tuple[int, int, str, Tense, str]
_ENDS = ("end", "semicolon")
_OF_ALL = re.compile(r"(?i)\W*(?:they|both|these|those|all(?:\s+(?!others?\b)\w+)?)\s+(?:should|must|ought|shall)\b")
_OF_BEFORE = re.compile(r"(?i)\W*(?:(?:and|but)\s+)?(?:it|this|that|they|both|which|should|must)\b")
_NAMED_VALUE = re.compile(
    r"'[^'\n]*'|\"[^\"\n]*\"|(?<![\w.])-?\d[\w.]*\w|(?<![\w.])-?\d|\b(?:None|True|False|null|true|false|undefined|NaN)\b"
)


def clauses(text: str) -> tuple[Clause, ...]:
    """Cut a text into clauses, and say of each whether it tells what is wanted or what happens today."""
    parts = list(_parts(text))
    tenses: list[Tense] = [_tense(part, heading) for _, _, part, heading, _ in parts]
    lent = set[int]()
    for number, (_, _, part, _, joint) in enumerate(parts):
        if number == 0:
            continue
        near = range(number - 1, max(-1, number - 3), -1)  # a line break may have left a word or two on their own
        last = next((place for place in near if _VALUE.search(parts[place][2])), number - 1)
        before: Tense = "plain" if last in lent else tenses[last]
        if joint == "next":
            _coordinate(parts, tenses, lent, number)
        elif joint == "swap":
            tenses[last], tenses[number] = _swapped(parts[last][2], part, before, tenses[number])
        elif joint == "not":
            tenses[number] = "observed" if before in ("wanted", "plain") else "open"
        elif tenses[number] == "wanted" and before == "plain" and _contradicts(parts[last][2], part):
            of_all = bool(_OF_ALL.match(part))
            for place in _coordinated(parts, tenses, last, of_all=of_all) if joint in _ENDS else [last]:
                tenses[place] = "observed"
        elif before == "plain" and _forbids(part, parts[last][2]):
            tenses[last] = "observed"
        elif tenses[number] == "plain" and joint == "but" and before in ("wanted", "observed") and _VALUE.search(part):
            tenses[number] = "wanted" if before == "observed" else "observed"
        elif (
            tenses[number] == "observed" and before == "plain" and joint in ("but", "comma") and not _CALL.search(part)
        ):
            tenses[last] = "wanted" if _contradicts(parts[last][2], part) else tenses[last]
    return tuple(
        Clause(start=start, end=end, text=part, tense=tense)
        for (start, end, part, _, _), tense in zip(parts, tenses, strict=True)
    )


def _coordinate(parts: Sequence[_Part], tenses: list[Tense], lent: set[int], number: int) -> None:
    """Let two statements joined by `and` share their tense where only one of them has words for it.

    Args:
        tenses: of all clauses; changed in place.
        lent: clauses that are wanted by the words of the one before them alone, so that what follows may still contradict them.
    """
    if tenses[number] == "plain":
        tenses[number] = tenses[number - 1]
        if tenses[number] == "wanted":
            lent.add(number)
    elif tenses[number] == "observed":
        for place in _coordinated(parts, tenses, number - 1):
            tenses[place] = "observed"


def _coordinated(parts: Sequence[_Part], tenses: Sequence[Tense], last: int, *, of_all: bool = False) -> list[int]:
    """A clause and those before it that `and` joins to it, as far as their words leave open what they are.

    Args:
        of_all: those that a semicolon joins to it, too.
    """
    first, joints = last, ("next", "semicolon") if of_all else ("next",)
    while parts[first][4] in joints and tenses[first - 1] == "plain":
        first -= 1
    return [place for place in range(first, last + 1) if place == last or tenses[place] == "plain"]


def wanted_part(text: str, *, within: str = "") -> str:
    """The text without what it tells of today; clauses that may be either are left out, too.

    Args:
        within: the longer text in which it stands: what comes before and behind it tells what it is.
    """
    whole, offset = _located(text, within)
    kept = [one for one in clauses(whole) if one.tense in ("wanted", "plain")]
    pieces = [whole[max(one.start, offset) : min(one.end, offset + len(text))] for one in kept]
    return "\n".join(piece.strip() for piece in pieces if piece.strip())


def is_observed(text: str, *, within: str = "") -> bool:
    """Whether all that a text says of values is what happens today, so that none of them is an expected one."""
    whole, offset = _located(text, within)
    end = offset + len(text)
    inside = [
        one
        for one in clauses(whole)
        if one.start < end and one.end > offset and _VALUE.search(whole[max(one.start, offset) : min(one.end, end)])
    ]
    return bool(inside) and all(one.tense in ("observed", "open") for one in inside)


def _located(text: str, within: str) -> tuple[str, int]:
    """The longer text and where the shorter one stands in it, white space apart; itself when it does not stand there."""
    words = [re.escape(word) for word in text.split()]
    found = re.search(r"\s+".join(words), within) if words and within else None
    if found is None:
        return text, 0
    # The one that is looked for keeps its own spelling, so that places in it can be told.
    return within[: found.start()] + text + within[found.end() :], found.start()


def _parts(text: str) -> Iterator[_Part]:
    """Each clause with its place, the tense of the heading above it, and what joins it to the clause before."""
    signs = [match.start() for match in _SIGN.finditer(text)]
    heads = list(_HEAD.finditer(text))
    found = [match for match in _CUT.finditer(text) if not _inside_literal(text, match.start(), signs)]
    cuts = [(match.start(), match.end(), match.lastgroup or "end") for match in found]
    start, sentence, joint = 0, 0, "end"
    for here, after, kind in [*cuts, (len(text), len(text), "end")]:
        part = text[start:here]
        if kind == "next" and not _STATED.search(text[sentence:here]):
            continue
        if part.strip():
            yield start, here, part, _heading(text, start, here, heads), joint
            joint = kind
        elif kind != "end":
            joint = kind
        start, sentence = after, after if kind in _ENDS else sentence


def _inside_literal(text: str, place: int, signs: Sequence[int]) -> bool:
    """Whether a place lies inside quotes or brackets of its line; `signs` are the places of all that can open one."""
    begins = text.rfind("\n", 0, place) + 1
    before = bisect_left(signs, place)
    if before == 0 or signs[before - 1] < begins:
        return False
    line = text[begins:place]
    bare = re.sub(r"\w'\w|```+\w*", "", line)
    return any(bare.count(sign) % 2 for sign in '"`') or bare.count("'") % 2 == 1 or bare.count("[") > bare.count("]")


def _heading(text: str, start: int, end: int, heads: Sequence[re.Match[str]]) -> Tense:
    """What the last heading at or before a clause says of everything below it.

    Args:
        heads: those of the whole text; one in the line of the clause's end is looked for anew, for it may end with the clause.
    """
    line = text.rfind("\n", 0, end) + 1
    above = bisect_left(heads, line, key=lambda match: match.start())
    last = _HEAD.match(text, line, end)
    for match in reversed([*heads[:above], *([last] if last else [])]):
        head = match.group("head")
        if _HEAD_OBSERVED.match(head):
            return "observed"
        if _HEAD_WANTED.match(head):
            return "wanted"
        if match.group().lstrip().startswith("#") or (match.group().rstrip().endswith(":") and match.start() < start):
            return "plain"
    return "plain"


def _tense(part: str, heading: Tense) -> Tense:
    said = _QUOTED.sub("''", part)
    if _TABLE.search(said):
        return "open"
    if _NEGATED_WANT.search(said):
        return "observed"
    wanted, observed = _WANTED.search(said), _OBSERVED.search(said)
    if wanted and observed:
        return "wanted" if wanted.start() > observed.start() or heading == "wanted" else _first_of_both(part, heading)
    if wanted:
        return "wanted"
    return "observed" if observed else heading


def _first_of_both(part: str, heading: Tense) -> Tense:
    """`should ... currently ...` in one clause: what is wanted is said first, and how it is only in passing."""
    return "wanted" if heading == "plain" else heading


def _swapped(before: str, part: str, first: Tense, second: Tense) -> tuple[Tense, Tense]:
    """`A instead of B`: what is said to be so today is A, unless A is what is asked for."""
    if first == "wanted":
        return "wanted", "observed"
    if not _VALUE.search(part):
        return first, second
    return ("observed", "wanted") if _RESULT.search(before) else ("wanted", "observed")


def _contradicts(before: str, part: str) -> bool:
    """Whether a clause that says what is wanted speaks of the same thing as the one before it, and gives it another value."""
    if _ALSO.search(part) or not _VALUE.search(part) or not (_VALUE.search(before) and _RESULT.search(before)):
        return False
    own = {match.group() for match in _CALL.finditer(part)}
    return not own or bool(own & {match.group() for match in _CALL.finditer(before)} and _same_call(before, part))


def _forbids(part: str, before: str) -> bool:
    """Whether a clause says that the very result of the one before it should not be."""
    values = _NAMED_VALUE.findall(part) if _OF_BEFORE.match(part) else []
    return bool(values and _NEGATED_WANT.search(part)) and set(values) <= set(_NAMED_VALUE.findall(before))


def _same_call(before: str, part: str) -> bool:
    """Whether both name a call with the very same arguments."""
    calls = [_CALL_WITH.findall(text) for text in (before, part)]
    return bool({"".join(one.split()) for one in calls[0]} & {"".join(one.split()) for one in calls[1]})
