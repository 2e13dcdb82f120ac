"""Measured dependencies: what changes the result of a call though its arguments are the same, and what the call does beside it.

A dependency is a finding only where an expectation that holds in the plain run is contradicted under a circumstance that can have
nothing to do with the call, and the base did not have that dependency. Everything else is a note (docs/dependencies.md).
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from agentforge.languages.symbols import Symbol
from agentforge.suite import Rig
from agentforge.verification.effects.replay import (
    AGAIN,
    PLAIN,
    SINGLE,
    TESTED,
    TOGETHER,
    Circumstance,
    ReplayedCalls,
    ReplayReply,
    replay,
    settled,
)
from agentforge.verification.examples.claims import Claim, literal
from agentforge.verification.examples.plain_check import Probe, resolve
from agentforge.verification.examples.suite_claims import Asserted
from agentforge.verification.examples.typed_comparison import difference, shown
from agentforge.workspace.code.relevance import is_test_path

MOST_CALLS = 200
_LISTED = 20
_OF_A_PLACE = {"elsewhere", "no_tests", "user"}
_RUN_S = 8.0
_REACHED = re.compile(r"socket\.(?:(?:connect|sendto) \('(?P<address>[^']+)'|getaddrinfo (?!None\b)(?P<name>\S+))")
_LOOPBACK = re.compile(r"localhost$|127\.|::1$|0\.0\.0\.0$")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCall:
    """A call that is repeated, and what is expected of it.

    Attributes:
        returns: source of the expected literal; empty when an exception is expected.
        raises: the name of the expected exception.
        hidden: it is told to no stage.
        seen: nobody said what it gives: a test made the call, and that is what it got.
        told: the call as it is told, where its source is not for people.
    """

    probe: Any
    returns: str = ""
    raises: str = ""
    hidden: bool = False
    seen: bool = False
    told: str = ""

    @property
    def text(self) -> str:
        """The call as it may be told."""
        if self.hidden:
            return f"a held-out check of {', '.join(self.probe.names)}"
        return self.told or str(self.probe.source)

    def contradicted_by(self, told: dict[str, Any]) -> bool:
        """Whether a result is another one than is expected."""
        if self.raises:
            wanted = self.raises.rpartition(".")[2]
            return not any(name == wanted for name, _ in told.get("raised", ()))
        if told.get("value") is None:
            return True
        return bool(difference(told["value"], literal(self.returns), how="loose"))


def texts_in_python(source: str) -> list[str]:
    """The texts that stand in a call."""
    nodes = ast.walk(ast.parse(source, mode="eval"))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLanguage:
    """How calls of a language are repeated.

    Attributes:
        replay: see `replay.replay`.
        single: the circumstances; `together` are two that join them, the decisive ones and the others.
        texts: the texts that stand in the source of a call.
    """

    replay: Callable[..., list[ReplayedCalls]] = replay
    single: Sequence[Circumstance] = SINGLE
    together: Sequence[Circumstance] = TOGETHER
    texts: Callable[[str], list[str]] = texts_in_python


PYTHON = RecordedLanguage()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What all runs of a measurement have in common; they end together."""

    rig: Rig
    language: RecordedLanguage
    base_tree: str
    tree: str
    until: float

    def runs(
        self, tree: str, calls: Sequence[MeasuredCall], circumstances: Sequence[Circumstance]
    ) -> list[ReplayedCalls]:
        """Repeat calls; nothing where no time is left."""
        left = self.until - time.monotonic()
        if left <= 0 or not calls:
            return [ReplayedCalls(replies=tuple(ReplayReply() for _ in calls))] * len(circumstances)
        probes = [one.probe for one in calls]
        return self.language.replay(self.rig, tree, probes, circumstances, limit_s=min(_RUN_S, left), within_s=left)


def calls_of(
    claims: Iterable[Claim], asserted: Iterable[Asserted], recorded: Iterable[MeasuredCall] = (), *,
    symbols: Sequence[Symbol], rig: Rig, tree: str,
) -> tuple[MeasuredCall, ...]:  # fmt: skip
    """The calls that can be repeated: examples of request and specification, assertions of frozen tests, and recorded calls."""
    found: dict[str, MeasuredCall] = {}
    for claim in claims:
        names = resolve(claim.call, symbols, read=rig.read(tree), roots=rig.plan.roots)
        if names is not None:
            probe = Probe(source=claim.call, names=names)
            found.setdefault(
                claim.call, MeasuredCall(probe=probe, returns=claim.returns, raises=claim.raises, hidden=claim.hidden)
            )
    for one in asserted:
        probe = Probe(source=one.call, names=one.names)
        found.setdefault(one.call, MeasuredCall(probe=probe, returns=one.returns, raises=one.raises))
    for call in recorded:
        found.setdefault(call.probe.source, call)
    return tuple(found.values())[:MOST_CALLS]


def measure_dependencies(
    rig: Rig, calls: Sequence[MeasuredCall], *, base_tree: str, tree: str, within_s: float, language: RecordedLanguage = PYTHON,
    of_time: bool = False, told: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Repeat calls under other circumstances and compare.

    Args:
        within_s: seconds for everything; what was not measured by then is not told.
        of_time: the request speaks of time, so that the clock may be an input.
        told: the words of people; a host that they name may be reached.
    Returns:
        {calls, circumstances, found: [{call, circumstance, before, after, contradicts, decides}],
        effects: [{call, kind, detail}], cpu_s, stopped: the time was over before everything was measured}.
    """
    if not calls:
        return {"calls": 0, "circumstances": 0, "found": [], "effects": [], "cpu_s": 0.0, "stopped": False}
    if not of_time:
        single = [replace(one, decides=True) if "clock_s" in one.changes else one for one in language.single]
        language = replace(language, single=single)
    place = _Ground(rig=rig, language=language, base_tree=base_tree, tree=tree, until=time.monotonic() + within_s)
    first = place.runs(tree, calls, (PLAIN, AGAIN, *language.together))
    plain, again = first[0], first[1]
    steady = [
        number for number in range(len(calls)) if not differs(AGAIN, plain.replies[number], again.replies[number])
    ]
    known = [number for number in range(len(calls)) if not plain.replies[number].missing]
    suspects = [number for number in known if number in steady and _anything(number, plain, first[2:])]
    rows, runs = _of_suspects(place, [calls[number] for number in suspects], plain)
    rows = [_row(calls[number], AGAIN, plain.replies[number], again.replies[number], inputs=set())
            for number in known if number not in steady] + rows  # fmt: skip
    rows = sorted(_confirmed(place, calls, rows), key=lambda row: not row["decides"])
    steady_ones = [(calls[number], plain.replies[number]) for number in known if number in steady]
    rows = [*_made_for_tests(place, steady_ones), *rows, *_beside(calls, plain, first[2])]
    effects = _new_effects(place, calls, plain)
    if any(row["kind"] == "network" for row in effects):
        rows = [*_needless_reach(calls, plain, told), *rows]
    spent = sum(run.cpu_s for run in (*first, *runs))
    tried = len(first) + len(runs)
    return {"calls": len(known), "circumstances": tried, "found": rows[:_LISTED], "effects": effects[:_LISTED],
            "cpu_s": round(spent, 3), "stopped": time.monotonic() >= place.until}  # fmt: skip


def _of_suspects(
    place: _Ground, calls: Sequence[MeasuredCall], whole: ReplayedCalls
) -> tuple[list[dict[str, Any]], Sequence[ReplayedCalls]]:
    """The dependencies of calls of which one is known, under each circumstance alone; and the runs that showed them."""
    single = place.language.single
    runs = place.runs(place.tree, calls, (PLAIN, *single)) if calls else []
    pairs = [(number, one, run) for one, run in zip(single, runs[1:], strict=True) for number in range(len(calls))
             if differs(one, runs[0].replies[number], run.replies[number])] if runs else []  # fmt: skip
    before = _at_the_base(place, calls, [one for _, one, _ in pairs])
    files = _places(place.rig, place.tree)
    reads = {"elsewhere"} if any(_is_input(kind, path) for _, kind, path in whole.effects) else set()
    rows = []
    for number, one, run in pairs:
        if (number, one.name) not in before:
            named = _OF_A_PLACE if _names_a_place(place.language.texts(calls[number].probe.source), files) else set()
            rows.append(_row(calls[number], one, runs[0].replies[number], run.replies[number], inputs=reads | named))
    return rows, runs


def differs(one: Circumstance, plain: ReplayReply, other: ReplayReply) -> bool:
    """Whether a call told something else; a repeated call is compared with its own first result, and silence says nothing."""
    if plain.missing or other.missing:
        return False
    if "times" in one.changes and len(one.changes) < 3:
        return bool(other.again) and settled(other.again) != settled(other.first)
    return settled(plain.first) != settled(other.first)


def _anything(number: int, plain: ReplayedCalls, runs: Sequence[ReplayedCalls]) -> bool:
    return any(
        differs(PLAIN, plain.replies[number], run.replies[number]) or bool(run.replies[number].again) for run in runs
    )


def _at_the_base(
    place: _Ground, calls: Sequence[MeasuredCall], circumstances: Sequence[Circumstance]
) -> set[tuple[int, str]]:
    """The dependencies that the base has, too: (number of the call, circumstance)."""
    tried = list({one.name: one for one in circumstances}.values())
    if not tried:
        return set()
    runs = place.runs(place.base_tree, calls, (PLAIN, *tried))
    return {
        (number, one.name)
        for one, run in zip(tried, runs[1:], strict=True)
        for number in range(len(calls))
        if differs(one, runs[0].replies[number], run.replies[number])
    }


def _row(
    call: MeasuredCall, one: Circumstance, plain: ReplayReply, other: ReplayReply, *, inputs: set[str]
) -> dict[str, Any]:
    """One dependency as a fact; it decides where an expectation held and does not any more.

    Args:
        inputs: settings of circumstances that are inputs of this call: it names a place, or files are read there.
    """
    after = dict(other.again or other.first)
    holds = bool(call.returns or call.raises) and not call.contradicted_by(dict(plain.first))
    contradicts = holds and call.contradicted_by(after)
    language = "flags" in one.changes and call.raises.rpartition(".")[2] == "AssertionError"  # what -O is there for
    said = one.of_nothing if call.seen else one.decides
    decides = said and contradicts and not language and not inputs & one.changes.keys()
    told = ("", "") if call.hidden else (_shown(plain.first), _shown(after))
    return {"call": call.text, "circumstance": one.name, "before": told[0], "after": told[1],
            "contradicts": contradicts, "decides": decides}  # fmt: skip


def _confirmed(place: _Ground, calls: Sequence[MeasuredCall], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, of which those decide that are there in a second checkout, too: a loaded machine refuses nobody."""
    tried = [one for one in place.language.single
             if any(row["decides"] and row["circumstance"] == one.name for row in rows)]  # fmt: skip
    if not tried:
        return rows
    runs = place.runs(place.tree, calls, (PLAIN, *tried))
    again = {
        (call.text, one.name)
        for one, run in zip(tried, runs[1:], strict=True)
        for call, plain, other in zip(calls, runs[0].replies, run.replies, strict=True)
        if differs(one, plain, other)
    }
    return [{**row, "decides": row["decides"] and (row["call"], row["circumstance"]) in again} for row in rows]


def _made_for_tests(place: _Ground, answered: Sequence[tuple[MeasuredCall, ReplayReply]]) -> list[dict[str, Any]]:
    """Calls that give what a test got where a test runner is loaded, and nowhere else, in two checkouts; not so at the base."""
    suspects = [call for call, plain in answered
                if call.seen and call.returns and call.contradicted_by(dict(plain.first))]  # fmt: skip
    trees = [place.tree, place.tree] if suspects else []
    found = [
        [_right_in_tests(*told) for told in zip(suspects, *(run.replies for run in place.runs(tree, suspects, (PLAIN, TESTED))),
                                                strict=True)]
        for tree in trees
    ]  # fmt: skip
    left = [call for call, *shown in zip(suspects, *found, strict=True) if shown and all(shown)]
    if not left:
        return []
    before = place.runs(place.base_tree, left, (PLAIN, TESTED))
    return [
        {"call": call.text, "circumstance": TESTED.name, "before": call.returns[:200], "after": "", "contradicts": True,
         "decides": True}
        for call, *told in zip(left, *(run.replies for run in before), strict=True)
        if not differs(TESTED, *told)
    ]  # fmt: skip


def _right_in_tests(call: MeasuredCall, plain: ReplayReply, tested: ReplayReply) -> bool:
    """Whether a call gives what the test got only as long as the process looks like that of a test runner."""
    known = not plain.missing and not tested.missing
    return known and call.contradicted_by(dict(plain.first)) and not call.contradicted_by(dict(tested.first))


def _shown(told: Any) -> str:
    if "raised" in told:
        return f"raises {told['raised'][0][0] if told['raised'] else 'an exception'}"
    return shown(told["value"])[:200] if told.get("value") is not None else ""


def _places(rig: Rig, tree: str) -> frozenset[str]:
    """The files and folders of a tree."""
    files = [PurePosixPath(path) for path in rig.git.list_files(tree)]
    return frozenset({str(one) for path in files for one in (path, *path.parents)})


def _names_a_place(texts: Sequence[str], places: frozenset[str]) -> bool:
    """Whether an argument is a path: then the folder, what lies in it and whose home it is are inputs."""
    return any(text.rstrip("/") in places or text.startswith(("./", "../", "/", "~")) for text in texts)


def _is_input(kind: str, path: str) -> bool:
    """Whether a file of the project that was read is one of its data, and none of its tests."""
    return kind == "reads" and not is_test_path(path)


def _beside(calls: Sequence[MeasuredCall], plain: ReplayedCalls, repeated: ReplayedCalls) -> list[dict[str, Any]]:
    """Arguments that a call changed, and results that are shared between callers: notes."""
    found = []
    for call, reply, other in zip(calls, plain.replies, repeated.replies, strict=True):
        if reply.altered and not call.hidden:
            found.append({"call": call.text, "circumstance": "and changes its argument", "before": reply.altered[0],
                          "after": "", "contradicts": False, "decides": False})  # fmt: skip
        if other.shared:
            found.append({"call": call.text, "circumstance": "when the caller changed the result of the call before",
                          "before": "", "after": "", "contradicts": False, "decides": False})  # fmt: skip
    return found


def _needless_reach(calls: Sequence[MeasuredCall], plain: ReplayedCalls, told: str) -> list[dict[str, Any]]:
    """Calls that reach for another machine, of which nobody spoke, and give what is expected of them without an answer."""
    found = {}
    for number, kind, detail in plain.effects:
        call, match = calls[number], _REACHED.match(detail) if kind == "network" else None
        host = (match["address"] or match["name"]) if match is not None else ""
        expected = bool(call.returns or call.raises) and not call.contradicted_by(dict(plain.replies[number].first))
        if host and expected and not _LOOPBACK.match(host) and not _names_host(f"{told} {call.probe.source}", host):
            circumstance = f"and reaches for {host}, which the request does not name"
            found[host] = {"call": call.text, "circumstance": circumstance, "before": "", "after": "",
                           "contradicts": False, "decides": True}  # fmt: skip
    return list(found.values())


def _names_host(words: str, host: str) -> bool:
    """Whether words hold a host, or a part of its name: `Yahoo` for finance.yahoo.com."""
    labels = [one for one in host.split(".") if len(one) > 2 and not one.isdigit()]
    return any(re.search(rf"(?i)(?<!\w){re.escape(one)}(?!\w)", words) for one in (host, *labels[:-1]))


def _new_effects(place: _Ground, calls: Sequence[MeasuredCall], plain: ReplayedCalls) -> list[dict[str, str]]:
    """Kinds of effects that the same calls do not have at the base; the first call that shows each."""
    kinds: dict[str, tuple[int, str]] = {}
    for number, kind, detail in plain.effects:
        if kind != "reads":
            kinds.setdefault(kind, (number, detail))
    if not kinds:
        return []
    before = place.runs(place.base_tree, calls, (PLAIN,))[0]
    habits = {kind for _, kind, _ in before.effects}
    return [
        {"call": calls[number].text, "kind": kind, "detail": "" if calls[number].hidden else detail}
        for kind, (number, detail) in kinds.items()
        if kind not in habits
    ]
