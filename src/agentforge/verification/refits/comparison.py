"""What tests noticed of wrong versions of the product with their old text, against what is noticed with the new one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentforge.languages.language import Mutant
from agentforge.testing.outcome import file_of
from agentforge.verification.refits.wrong_functions import NULL, SKEWED, WHOLE, ProductFunction

SMALL = "small"
"""The kind of all small changes."""
_FEW = 2  # small changes noticed before: one alone may be chance
LISTED = 20
_ENOUGH = 3  # small changes of which none is noticed now


@dataclass(frozen=True, slots=True, kw_only=True)
class Refits:
    """The tests of the base that pass on the delivered tree, and only with a new text.

    Attributes:
        refitted: ids of those that stand word for word, with a fixture or a helper that the specification changes.
        rewritten: ids of those of which the specification says that it changes them.
        beside: test files that are new or changed: what stands there may notice in the place of a rewritten test.
        told: people's own words: a function that they name may take the place of another one.
    """

    refitted: Sequence[str] = ()
    rewritten: Sequence[str] = ()
    beside: Sequence[str] = ()
    told: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.refitted, *self.rewritten)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticing:
    """What was seen on one tree.

    Attributes:
        versions: wrong versions of its files.
        noticed: number of a version that was run -> the tests that noticed it.
        asked: number of a version -> the tests that were run against it.
        told: the tests pass beside wrong versions, when nothing is wrong: else nothing was seen.
    """

    versions: Sequence[Mutant] = ()
    noticed: Mapping[int, frozenset[str]] = field(default_factory=dict)
    asked: Mapping[int, frozenset[str]] = field(default_factory=dict)
    told: bool = True

    def of(self, function: ProductFunction) -> list[int]:
        """Numbers of the versions of a function that were run."""
        return [
            number
            for number, one in enumerate(self.versions)
            if (one.path, one.owner) == (function.path, function.owner) and number in self.noticed
        ]

    def by(self, numbers: Collection[int], test: str, kind: str) -> list[int]:
        """Those of some versions that a test noticed: functions that do nothing, other results, or small changes (SMALL)."""
        return [one for one in numbers if test in self.noticed[one] and self.kind(one) == kind]

    def against(self, numbers: Collection[int], test: str, kind: str) -> list[int]:
        """Those of some versions that were run against a test."""
        return [one for one in numbers if test in self.asked[one] and self.kind(one) == kind]

    def kind(self, number: int) -> str:
        """The kind of a version; all small changes are of one."""
        kind = self.versions[number].kind
        return kind if kind in WHOLE else SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Refitted:
    """A function that tests of the base called, as it was and as it is.

    Attributes:
        runs: the tests that execute it on the delivered tree; None where nobody knows.
        pairs: number of a small change at the base -> the same change of the same line on the delivered tree.
    """

    before: ProductFunction
    after: ProductFunction
    runs: frozenset[str] | None = None
    pairs: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What a test noticed and nobody notices now.

    Attributes:
        text: what became of it, in words.
    """

    test: str
    function: ProductFunction
    text: str


def lost_by(test: str, one: Refitted, before: Noticing, after: Noticing, *, itself: bool) -> Loss | None:
    """What a changed test lost of one function.

    Args:
        itself: the test stands as it was and what it is given has changed: nobody else can notice in its place.
    """
    old, new = before.of(one.before), after.of(one.after)
    if not any(test in before.noticed[number] for number in old):
        return None
    notices = _by_itself if itself else _by_anybody
    text = notices(test, one, old, new, before, after)
    text = text or _small_ones(test, one, before.by(old, test, SMALL), before, after, itself=itself)
    return Loss(test=test, function=one.after, text=text) if text else None


def _by_itself(test: str, one: Refitted, old: list[int], new: list[int], before: Noticing, after: Noticing) -> str:
    """What a test that stands word for word has lost with its new fixture or helper."""
    if one.runs is not None and test not in one.runs:
        return f"ran {one.before.owner} at the base and runs it no longer"
    ends = any(after.kind(number) == SKEWED for number in new)
    if ends and before.against(old, test, SKEWED) and not after.against(new, test, SKEWED):
        return f"came to a result of {one.before.owner} at the base, and comes to none now"
    seen = any(test in after.noticed[number] for number in new)
    if not seen and after.against(new, test, NULL):
        return f"would pass now if {one.after.owner} did nothing; at the base it noticed that"
    if before.by(old, test, SKEWED) and _misses_another_result(test, new, after):
        return _NOT_NOW.format(one.after.owner)
    small, asked = before.by(old, test, SMALL), after.against(new, test, SMALL)
    if len(small) >= _FEW and len(asked) >= _ENOUGH and not after.by(new, test, SMALL):
        return (
            f"noticed {len(small)} small wrong changes of {one.before.owner} at the base, and now none of {len(asked)}: "
            f"{_shown(after, asked)}"
        )
    return ""


_NOT_NOW = "does not notice now when {} gives another result; at the base it noticed that"


def _misses_another_result(test: str, new: list[int], after: Noticing) -> bool:
    """Whether a test comes to the end of a function, and would pass whatever the result."""
    return bool(after.against(new, test, SKEWED)) and not after.by(new, test, SKEWED)


def _by_anybody(test: str, one: Refitted, old: list[int], new: list[int], before: Noticing, after: Noticing) -> str:
    """A test that was written anew may leave something to others, but not to nobody."""
    if one.runs is not None and not one.runs:
        return f"ran {one.before.owner} at the base, and no test runs it now"
    if before.by(old, test, SKEWED) and _misses_another_result(test, new, after):
        return _NOT_NOW.format(one.after.owner)
    for kind, what in ((NULL, "did nothing"), (SKEWED, "gives another result")):
        told = [number for number in new if after.kind(number) == kind]
        if told and before.by(old, test, kind) and not any(after.noticed[number] for number in told):
            return f"noticed at the base when {one.before.owner} {what}, and no test notices it now"
    return ""


def _small_ones(
    test: str, one: Refitted, small: Sequence[int], before: Noticing, after: Noticing, *, itself: bool
) -> str:
    """Small wrong changes of lines that stand as they were, which the test noticed and which nobody notices now."""
    pairs = [(number, one.pairs[number]) for number in small if one.pairs.get(number) in after.noticed]
    gone = [now for _, now in pairs if not after.noticed[now] and (not itself or test in after.asked[now])]
    if not gone:
        return ""
    return f"noticed at the base, and nobody notices now, what is wrong in unchanged lines: {_shown(after, gone)}"


def _shown(look: Noticing, numbers: Sequence[int]) -> str:
    return "; ".join(look.versions[number].name for number in numbers[:3])


def told_of_refits(refits: Refits, note: str) -> dict[str, Any]:
    """The fact where nothing was compared, and why."""
    return {"measured": False, "note": note, "compared": [], "not_compared": list(refits.ids)[:LISTED], "lost": []}


def hidden_refits(refits: Refits, text: str) -> dict[str, Any]:
    """The fact where the change itself keeps the tests that run with a new fixture from being compared."""
    rows = [{"id": one, "path": file_of(one), "function": "", "text": text} for one in refits.refitted]
    return {**told_of_refits(refits, text), "lost": rows[:LISTED]}


def told_of_looks(
    refits: Refits, entries: Sequence[Refitted], old: Noticing, new: Noticing, excused: Collection[str] = ()
) -> dict[str, Any]:
    """The fact of a comparison.

    Args:
        excused: tests that may run a function no longer, because a new one that people name has taken its place.
    """
    lost: list[Loss] = []
    compared: set[str] = set()
    for test in refits.ids:
        for one in entries:
            if not any(test in old.noticed[number] for number in old.of(one.before)):
                continue
            if new.of(one.after):
                compared.add(test)
            found = lost_by(test, one, old, new, itself=test in refits.refitted)
            if found is not None and not (test in excused and test not in (one.runs or ())):
                lost.append(found)
    rows = [
        {"id": one.test, "path": one.function.path, "function": one.function.owner, "text": one.text} for one in lost
    ]
    beside = [one for one in refits.ids if one not in compared]
    return {
        "measured": bool(compared), "note": "" if compared else "nothing that they noticed at the base stands there now",
        "compared": sorted(compared), "not_compared": beside[:LISTED], "lost": rows[:LISTED],
    }  # fmt: skip
