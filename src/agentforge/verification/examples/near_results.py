"""Calls with the values that stand near them in the request: what the base and the delivered tree give for them. Pure.

No word says whether a value is wanted, reported of today, or neither. What two trees give does, as far as it goes. It is
evidence and no verdict: a reader of the request decides what it means.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentforge.languages.catalogue import comment_mark
from agentforge.verification.examples.claims import literal
from agentforge.verification.examples.near_values import NearValue
from agentforge.verification.examples.plain_answers import CallResult, holds
from agentforge.verification.examples.typed_comparison import difference, shown, told_of

_DIGITS = 15
_ITEMS = 3
"""Where an encoded object has what it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearCallText:
    """A call as it stands in the request, what is evaluated for it, and where it begins in its sentence.

    Attributes:
        inside: where the brackets of the sentence begin that it stands in.
        of: the call that it is passed to, as in `assertEqual(f(1), 3)`; it counts where that is no call of the project.
    """

    text: str
    source: str
    place: int = 0
    inside: tuple[int, ...] = ()
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearGroup:
    """What stands together in the request: calls, and the values beside them.

    Attributes:
        start: where it begins in the request.
        sentence: its words.
        around: the values that stand close by; a new result that is named there is spoken of.
        others: the calls close by that have no value beside them; what they give is no result that is missing here.
    """

    start: int
    sentence: str
    calls: tuple[NearCallText, ...]
    values: tuple[NearValue, ...]
    around: tuple[NearValue, ...] = ()
    others: tuple[str, ...] = ()


Answers = Mapping[str, CallResult]


def with_calls_before(group: NearGroup, came: Collection[str]) -> NearGroup:
    """The group with each call made behind those that stand before it: "`f(1)` and then `f(2)`".

    Args:
        came: the calls that come to a result.
    """
    made: list[NearCallText] = []
    for number, one in enumerate(group.calls):
        steps = [other.source for other in group.calls[:number] if other.source in came and not one.of]
        source = f"[{', '.join([*steps, one.source])}][{len(steps)}]" if steps else one.source
        made.append(replace(one, source=source))
    return replace(group, calls=tuple(made))


def unmet(group: NearGroup, before: Answers, now: Answers) -> list[dict[str, Any]]:
    """What two trees show of a group that may be unmet; at most one row.

    Nothing follows where the delivered tree gives what stands near the call and the base did not, or gave that and no other value
    is left that no call of the group gives. Else it is still as before, or gives what nobody named. What the base gave, and
    nothing beside it, may be all that a report says of today: it counts where other calls show the wish (`granted`).

    Args:
        before: what the base gives, by source; what did not come to a result is missing.
        now: what the delivered tree gives.
    Returns:
        {call, source, example, got, was, near: [{kind, value}], as_before}; as_before = only what the base gave stands there.
    """
    group = _without_passed(group, now)
    sources = [*(one.source for one in group.calls), *group.others]
    known = [answer for one in sources for answer in (before.get(one), now.get(one)) if answer is not None]
    left = [value for value in group.values if not any(gives(answer, value) for answer in known)]
    found = [row for one in group.calls if (row := _of_call(one, group, left, before, now)) is not None]
    return [row for _, row in sorted(found, key=lambda pair: pair[0])[:1]]


def granted(group: NearGroup, before: Answers, now: Answers) -> list[str]:
    """The calls of a group that give a value near to them on the delivered tree, and gave another at the base."""
    group = _without_passed(group, now)
    changed = [one for one in group.calls if one.source in now and not _same(before.get(one.source), now[one.source])]
    return [one.source for one in changed if any(gives(now[one.source], value) for value in group.values)]


def _without_passed(group: NearGroup, now: Answers) -> NearGroup:
    """The group without what is passed to a call of the project."""
    calls = tuple(one for one in group.calls if one.of not in now)
    return replace(group, calls=calls, values=tuple(one for one in group.values if one.of not in now))


def _of_call(
    one: NearCallText, group: NearGroup, left: Sequence[NearValue], before: Answers, now: Answers
) -> tuple[int, dict[str, Any]] | None:
    base, tree = before.get(one.source), now.get(one.source)
    if tree is None or (tree.value is not None and tree.value[0] in ("object", "too much")):
        return None
    was = base is not None and any(gives(base, value, roughly=True) for value in group.values)
    open_ones = [value for value in left if _may_be_meant(value, one, group, base, tree)]
    if (
        base is not None and base.value is None and tree.value is not None and not was
    ):  # it crashed, however that was called
        open_ones = [value for value in open_ones if value.kind != "error"]
    same = _same(base, tree)
    if same and tree.value is not None and tree.value[0] == "NoneType":  # what it does is not what it gives
        return None
    fine = any(gives(tree, value) for value in group.values) or (not same and _is_commented(tree, group.sentence))
    if fine and any(
        gives(tree, value) for value in group.values if one.inside and value.inside[: len(one.inside)] == one.inside
    ):
        open_ones = [value for value in open_ones if value.inside[: len(one.inside)] == one.inside]
    if fine and (not same or not open_ones):
        return None
    if not fine and not open_ones and not was:
        return None
    if not fine and tree.value is None and (base is None or same):
        return None
    if not fine and was and not open_ones and any(gives(tree, value) for value in group.around):
        return None
    near = open_ones or [value for value in group.values if value.kind != "text"]
    distance = min((abs(value.place - one.place) for value in open_ones), default=0)
    row: dict[str, Any] = {
        "call": one.text, "source": one.source, "example": group.sentence, "got": _told(tree),
        "was": _told(base) if base is not None else "",
        "near": [{"kind": value.kind, "value": value.source} for value in near], "as_before": not open_ones,
    }  # fmt: skip
    return distance, row


def _is_commented(answer: CallResult, sentence: str) -> bool:
    """Whether an answer is the text of a comment that stands there, as in `// import "a"`."""
    if answer.value is None or answer.value[0] != "str" or not answer.value[1]:
        return False
    mark = comment_mark()
    said = (mark.sub("", line) for line in sentence.split("\n") if mark.match(line))
    return any(f"{line} ".startswith(f"{answer.value[1]} ") for line in said)


def _may_be_meant(
    value: NearValue, one: NearCallText, group: NearGroup, base: CallResult | None, tree: CallResult
) -> bool:
    """Whether a value may be the result of a call: one whose kind fits, a number of a sentence only beside no other value."""
    if value.kind == "text":
        return False
    if not value.set_off:
        alone = not any(other.set_off and other.kind == "value" for other in group.values)
        return alone and value.source not in one.text and _fits(value, tree)
    settled = any(gives(tree, other) for other in group.values)
    return not settled or any(_fits(value, answer) for answer in (base, tree) if answer is not None)


def _fits(value: NearValue, answer: CallResult) -> bool:
    """Whether a value is of the kind of an answer; where there is none, or None, anything may come."""
    if answer.value is None or answer.value[0] == "NoneType" or value.kind == "error" or value.source == "None":
        return True
    kinds = {answer.value[0], type(literal(value.source)).__name__}
    return (
        len(kinds) == 1
        or kinds <= {"int", "float"}
        or kinds <= {"list", "tuple"}
        or str(answer.value[1]) == value.source
    )


def gives(answer: CallResult, value: NearValue, *, roughly: bool = False) -> bool:
    """Whether an answer is what a text says: a value, an exception by its name or message, a text without quotes.

    Args:
        roughly: a number counts that has the digits which are written.
    """
    if answer.value is None:
        names = {name for name, _ in answer.raised}
        said = literal(value.source) if value.kind == "value" else value.source
        return value.source in names if value.kind == "error" else bool(said) and said == answer.message
    if value.kind == "error":
        return False
    if value.kind == "text":
        return value.source in (
            shown(answer.value, limit=4000),
            *([answer.value[1]] if answer.value[0] == "str" else []),
        )
    if value.written and answer.value[:2] == ["str", value.written]:
        return True
    expected = literal(value.source)
    if isinstance(expected, float) and answer.value[0] == "float" and (roughly or value.about):
        return _rounded(float(answer.value[1]), value.source)
    if {answer.value[0], type(expected).__name__} == {"list", "tuple"}:
        return not difference([type(expected).__name__, answer.value[1]], expected, how="equal")
    if not difference(answer.value, expected, how="equal"):
        return True
    return answer.value[0] == "object" and len(answer.value) > _ITEMS and holds(answer.value[_ITEMS], expected)


def _rounded(found: float, written: str) -> bool:
    """Whether a number has the digits that are written, rounded or cut off."""
    digits = len(written.partition(".")[2])
    return abs(found - float(written)) < 10.0**-digits if digits < _DIGITS else found == float(written)


def _same(base: CallResult | None, tree: CallResult) -> bool:
    """Whether two trees give the same for a call, whatever an exception says."""
    return base is not None and (base.value, base.raised) == (tree.value, tree.raised)


def _told(answer: CallResult) -> str:
    return told_of(answer.value, answer.raised, answer.message)
