"""What prose says of calls, in whatever language: "`f(1)` gives 3", tables, "`f(1)` and `f(2)` should be 3", over line breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_CONNECTOR = re.compile(
    r"\s*(?:-{1,3}>|={1,3}>|→|⇒|➞|➜|⟶|⟹|={2,3}|(?<![<>!:=])=|\breturns?\b|\bgives?\b|\byields?\b|\bis\s+equal\s+to\b|\bequals?\b|\bevaluates?\s+to\b"
    r"|\bresults?\s+in\b|\braises?\b|\bthrows?\b|\b(?:should|must|will|shall)\s+(?:(?!not\b|never\b|no\b)\w+\s+)?(?:be|return|give|equal|raise)\b"
    r"|\bis\b)\s*"
)
_RAISING = re.compile(r"raises?|throws?|(?:should|must|will|shall)\s+(?:\w+\s+)?raise")
EXCEPTION = re.compile(
    r"(?:(?:raises?|throws?)\s+)?(?:an?\s+)?`?((?:\w+\.)*\w*(?:Error|Exception|Warning|Exit|Interrupt|StopIteration))\b"
)
START = re.compile(r"(?<![\w.'\"])[A-Za-z_]")
_CALCULATES = re.compile(r"\s*(?:[+*/%]|-\s*\d|\.\d)")
_WORD = re.compile(r"\s+[^\W\d_]")
_JOINED = re.compile(r"(?:\s+[^\W\d_]+){1,3}\s+(?:[`'\"\[{(\d-]|[A-Za-z_$][\w$.]*\()")
_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_JOINT = re.compile(r"[`,\s]*(?:\w+\s+)?`?$")
"""What may stand between two calls that share a result: signs, and one word of any language."""
_ENDS_A_CALL = re.compile(r"\)`?,?\s*$")
_CODE_OPENS = re.compile(r"(?<=\w)\(|[\[{]")
_OPENS, _CLOSES = "([{", ")]}"
_LONGEST = 40
"""Lines over which an example may go."""
_LEFT_OUT = re.compile(r"\.\.\.|…")
_ANGLED = re.compile(r"<([A-Za-z][\w -]*)>")
_NAMED = re.compile(r"\{([A-Za-z]\w*)\}|(?<![A-Za-z0-9])([A-Z][A-Z_]+)(?![A-Za-z0-9])")


def said_in(
    line: str, *, call_at_end: Callable[[str], str | None], may_be_given: Callable[[str], bool]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What a line says of calls, in whatever language: each call with the text that begins with its result.

    An exception is told as "raises NAME". Whether a result is asked for or reported of today is not decided here. Calls of one
    thing that share a result ("`f(1)` and `f(2)` should be 3") have it each; all but the last come with the last, beside which
    they stand.

    Args:
        call_at_end: finds the call with which a text ends.
        may_be_given: whether `call = literal` can be an example of it, and no assignment.
    """
    text = line.strip().removeprefix("assert ").strip()
    cells = [cell.strip().strip("`").strip() for cell in text.strip("|").split("|")] if text.startswith("|") else []
    if len(cells) >= 2:
        yield cells[0], f"raises {cells[1]}" if EXCEPTION.fullmatch(cells[1]) else cells[1], ()
        return
    for match in _CONNECTOR.finditer(text):
        call = call_at_end(text[: match.start()])
        if call is not None and (match.group().strip() != "=" or may_be_given(call)):
            raising = "raises " if _RAISING.fullmatch(match.group().strip()) else ""
            yield call, raising + text[match.end() :], ()
            for one in _sharing(text[: match.start()], call, call_at_end):
                yield one, raising + text[match.end() :], (call,)


def goes_on(rest: str) -> bool:
    """Whether a value of a sentence is only the beginning of something: of a sum, or before words, as in "3 items".

    It is whole where at most three words stand between it and the next value or call, in whatever language: "3 and `f(2)`",
    "3 instead of 4".
    """
    return bool(_CALCULATES.match(rest) or (_WORD.match(rest) and not _JOINED.match(rest)))


def _sharing(text: str, call: str, call_at_end: Callable[[str], str | None]) -> list[str]:
    """The calls of one thing that stand in a row before `call`, with which a text ends."""
    found: list[str] = []
    before = text[: text.rindex(call)]
    while joint := _JOINT.search(before):
        other = call_at_end(before[: joint.start()]) if before[: joint.start()].endswith(")") else None
        if other is None or other.partition("(")[0] != call.partition("(")[0]:
            break
        found.insert(0, other)
        before = before[: before.rindex(other)]
    return found


def unbroken(text: str) -> str:
    """The text with a space in the place of each line break that an example crosses; all else stands where it stood.

    A call, a list or a dictionary that is open at the end of a line goes on in the next one, where it is closed before an empty
    line; so does a call whose result the next line tells.
    """
    lines = text.split("\n")
    out = [lines[0]]
    for number, line in enumerate(lines[1:], start=1):
        last = out[-1]
        if not line.strip() or last.lstrip().startswith("|") or line.lstrip().startswith(("|", ">>>")):
            out.append(line)
        elif _goes_on(last, lines[number : number + _LONGEST]):
            out[-1] = f"{last} {line}"
        else:
            out.append(line)
    return "\n".join(out)


def _goes_on(line: str, rest: Sequence[str]) -> bool:
    """Whether a line ends in the middle of an example."""
    depth = _depth(line)
    if depth > 0:
        for later in rest:
            if not later.strip():
                return False
            depth += _depth(later, inside=True)
            if depth <= 0:
                return True
        return False
    if _ENDS_A_CALL.search(line):
        return _CONNECTOR.match(rest[0]) is not None
    last = next(reversed([*_CONNECTOR.finditer(line)]), None)
    return last is not None and last.end() == len(line) and _ENDS_A_CALL.search(line[: last.start()]) is not None


def _depth(line: str, *, inside: bool = False) -> int:
    """How many brackets of code are open at the end of a line.

    Args:
        inside: it goes on with a line in which one was open.
    """
    bare = _QUOTED.sub("", line)
    depth = 0
    for place, sign in enumerate(bare):
        if sign in _OPENS and (inside or depth or _CODE_OPENS.match(bare, place)):
            depth += 1
        elif sign in _CLOSES and (inside or depth):
            depth -= 1
    return depth


def placeholder_in(literal: str, prose: str) -> bool:
    """Whether a literal holds a placeholder.

    Text that is left out and a word in angle brackets that no closing tag answers are placeholders anywhere; a name in braces or
    in capitals is one where the prose speaks of it: "unknown property: KEY" where the key does not exist.

    Args:
        prose: the words around it, without literals and code.
    """
    if _LEFT_OUT.search(literal) or any(f"</{found}>" not in literal for found in _ANGLED.findall(literal)):
        return True
    words = {word.lower() for found in _NAMED.findall(literal) for name in found for word in name.split("_") if word}
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", prose, re.IGNORECASE) for word in words)
