"""Measured dependencies: what changes the result of a call though its arguments are the same, and what the call does beside it.

A dependency is a finding only where an expectation that holds in the plain run is contradicted under a circumstance that can have
nothing to do with the call, and the base did not have that dependency. Everything else is a note (docs/dependencies.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from agentforge.runners.claims import Claim, literal
from agentforge.runners.plain_check import Probe, resolve
from agentforge.runners.replay import AGAIN, PLAIN, SINGLE, TOGETHER, Circumstance, Replayed, Reply, replay, settled
from agentforge.runners.rig import Rig
from agentforge.runners.suite_claims import Asserted
from agentforge.runners.symbols import Symbol
from agentforge.runners.typed import difference, shown
from agentforge.workspace.relevance import is_test_path

MOST_CALLS = 200
_LISTED = 20
_OF_A_PLACE = {"elsewhere", "no_tests", "user"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that is repeated, and what people or frozen tests expect of it.

    Attributes:
        returns: source of the expected literal; empty when an exception is expected.
        raises: the name of the expected exception.
        hidden: it is told to no stage.
    """

    probe: Probe
    returns: str = ""
    raises: str = ""
    hidden: bool = False

    @property
    def text(self) -> str:
        """The call as it may be told."""
        return f"a held-out check of {', '.join(self.probe.names)}" if self.hidden else self.probe.source

    def contradicted_by(self, told: dict[str, Any]) -> bool:
        """Whether a result is another one than is expected."""
        if self.raises:
            wanted = self.raises.rpartition(".")[2]
            return not any(name == wanted for name, _ in told.get("raised", ()))
        if told.get("value") is None:
            return True
        return bool(difference(told["value"], literal(self.returns), how="loose"))


def calls_of(
    claims: Iterable[Claim], asserted: Iterable[Asserted], *, symbols: Sequence[Symbol], rig: Rig, tree: str
) -> tuple[Call, ...]:
    """The calls that can be repeated: examples of request and specification, and those of frozen straight-line tests."""
    found: dict[str, Call] = {}
    for claim in claims:
        names = resolve(claim.call, symbols, read=rig.read(tree), roots=rig.plan.roots)
        if names is not None:
            probe = Probe(source=claim.call, names=names)
            found.setdefault(
                claim.call, Call(probe=probe, returns=claim.returns, raises=claim.raises, hidden=claim.hidden)
            )
    for one in asserted:
        probe = Probe(source=one.call, names=one.names)
        found.setdefault(one.call, Call(probe=probe, returns=one.returns, raises=one.raises))
    return tuple(found.values())[:MOST_CALLS]


def measure_dependencies(
    rig: Rig, calls: Sequence[Call], *, base_tree: str, tree: str, limit_s: float
) -> dict[str, Any]:
    """Repeat calls under other circumstances and compare.

    Args:
        limit_s: seconds for each circumstance.
    Returns:
        {calls, circumstances, found: [{call, circumstance, before, after, contradicts, decides}],
        effects: [{call, kind, detail}], cpu_s}.
    """
    if not calls:
        return {"calls": 0, "circumstances": 0, "found": [], "effects": [], "cpu_s": 0.0}
    first = replay(rig, tree, [one.probe for one in calls], (PLAIN, AGAIN, *TOGETHER), limit_s=limit_s)
    plain, again = first[0], first[1]
    if plain.ended == "timed out":
        return {"calls": 0, "circumstances": len(first), "found": [], "effects": [],
                "cpu_s": round(sum(run.cpu_s for run in first), 3)}  # fmt: skip
    steady = [
        number for number in range(len(calls)) if not differs(AGAIN, plain.replies[number], again.replies[number])
    ]
    known = [number for number in range(len(calls)) if not plain.replies[number].missing]
    suspects = [number for number in known if number in steady and _anything(number, plain, first[2:])]
    probes = [calls[number].probe for number in suspects]
    runs = replay(rig, tree, probes, (PLAIN, *SINGLE), limit_s=limit_s) if suspects else []
    pairs = [(place, one, run) for one, run in zip(SINGLE, runs[1:], strict=True) for place in range(len(suspects))
             if differs(one, runs[0].replies[place], run.replies[place])] if runs else []  # fmt: skip
    before = _at_the_base(rig, base_tree, probes, [one for _, one, _ in pairs], limit_s=limit_s)
    rows = [_row(calls[number], AGAIN, plain.replies[number], again.replies[number], inputs=set())
            for number in known if number not in steady]  # fmt: skip
    places = _places(rig, tree)
    reads = {"elsewhere"} if any(_is_input(kind, path) for _, kind, path in plain.effects) else set()
    for place, one, run in pairs:
        if (place, one.name) not in before:
            call = calls[suspects[place]]
            inputs = reads | (_OF_A_PLACE if _names_a_place(call, places) else set())
            rows.append(_row(call, one, runs[0].replies[place], run.replies[place], inputs=inputs))
    rows = sorted(_confirmed(rig, tree, calls, rows, limit_s=limit_s), key=lambda row: not row["decides"])
    rows += _beside(calls, plain, first[2])
    effects = _new_effects(rig, base_tree, calls, plain, limit_s=limit_s)
    spent = sum(run.cpu_s for run in (*first, *runs))
    tried = len(first) + len(runs)
    return {"calls": len(known), "circumstances": tried, "found": rows[:_LISTED], "effects": effects[:_LISTED],
            "cpu_s": round(spent, 3)}  # fmt: skip


def differs(one: Circumstance, plain: Reply, other: Reply) -> bool:
    """Whether a call told something else; a repeated call is compared with its own first result, and silence says nothing."""
    if plain.missing or other.missing:
        return False
    if "times" in one.changes and len(one.changes) < 3:
        return bool(other.again) and settled(other.again) != settled(other.first)
    return settled(plain.first) != settled(other.first)


def _anything(number: int, plain: Replayed, runs: Sequence[Replayed]) -> bool:
    return any(
        differs(PLAIN, plain.replies[number], run.replies[number]) or bool(run.replies[number].again) for run in runs
    )


def _at_the_base(
    rig: Rig, base_tree: str, probes: Sequence[Probe], circumstances: Sequence[Circumstance], *, limit_s: float
) -> set[tuple[int, str]]:
    """The dependencies that the base has, too: (place of the call, circumstance)."""
    tried = list({one.name: one for one in circumstances}.values())
    if not tried:
        return set()
    runs = replay(rig, base_tree, probes, (PLAIN, *tried), limit_s=limit_s)
    return {
        (place, one.name)
        for one, run in zip(tried, runs[1:], strict=True)
        for place in range(len(probes))
        if differs(one, runs[0].replies[place], run.replies[place])
    }


def _row(call: Call, one: Circumstance, plain: Reply, other: Reply, *, inputs: set[str]) -> dict[str, Any]:
    """One dependency as a fact; it decides where an expectation held and does not any more.

    Args:
        inputs: settings of circumstances that are inputs of this call: it names a place, or files are read there.
    """
    after = dict(other.again or other.first)
    holds = bool(call.returns or call.raises) and not call.contradicted_by(dict(plain.first))
    contradicts = holds and call.contradicted_by(after)
    language = "flags" in one.changes and call.raises.rpartition(".")[2] == "AssertionError"  # what -O is there for
    decides = one.decides and contradicts and not language and not inputs & one.changes.keys()
    told = ("", "") if call.hidden else (_shown(plain.first), _shown(after))
    return {"call": call.text, "circumstance": one.name, "before": told[0], "after": told[1],
            "contradicts": contradicts, "decides": decides}  # fmt: skip


def _confirmed(
    rig: Rig, tree: str, calls: Sequence[Call], rows: list[dict[str, Any]], *, limit_s: float
) -> list[dict[str, Any]]:
    """The rows, of which those decide that are there in a second checkout, too: a loaded machine refuses nobody."""
    tried = [one for one in SINGLE if any(row["decides"] and row["circumstance"] == one.name for row in rows)]
    if not tried:
        return rows
    runs = replay(rig, tree, [one.probe for one in calls], (PLAIN, *tried), limit_s=limit_s)
    again = {
        (call.text, one.name)
        for one, run in zip(tried, runs[1:], strict=True)
        for call, plain, other in zip(calls, runs[0].replies, run.replies, strict=True)
        if differs(one, plain, other)
    }
    return [{**row, "decides": row["decides"] and (row["call"], row["circumstance"]) in again} for row in rows]


def _shown(told: Any) -> str:
    if "raised" in told:
        return f"raises {told['raised'][0][0] if told['raised'] else 'an exception'}"
    return shown(told["value"])[:200] if told.get("value") is not None else ""


def _places(rig: Rig, tree: str) -> frozenset[str]:
    """The files and folders of a tree."""
    files = [PurePosixPath(path) for path in rig.git.list_files(tree)]
    return frozenset({str(one) for path in files for one in (path, *path.parents)})


def _names_a_place(call: Call, places: frozenset[str]) -> bool:
    """Whether an argument is a path: then the folder, what lies in it and whose home it is are inputs."""
    nodes = ast.walk(ast.parse(call.probe.source, mode="eval"))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return any(text.rstrip("/") in places or text.startswith(("./", "../", "/", "~")) for text in texts)


def _is_input(kind: str, path: str) -> bool:
    """Whether a file of the project that was read is one of its data, and none of its tests."""
    return kind == "reads" and not is_test_path(path)


def _beside(calls: Sequence[Call], plain: Replayed, repeated: Replayed) -> list[dict[str, Any]]:
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


def _new_effects(
    rig: Rig, base_tree: str, calls: Sequence[Call], plain: Replayed, *, limit_s: float
) -> list[dict[str, str]]:
    """Kinds of effects that the same calls do not have at the base; the first call that shows each."""
    kinds: dict[str, tuple[int, str]] = {}
    for number, kind, detail in plain.effects:
        if kind != "reads":
            kinds.setdefault(kind, (number, detail))
    if not kinds:
        return []
    before = replay(rig, base_tree, [one.probe for one in calls], (PLAIN,), limit_s=limit_s)[0]
    habits = {kind for _, kind, _ in before.effects}
    return [
        {"call": calls[number].text, "kind": kind, "detail": "" if calls[number].hidden else detail}
        for kind, (number, detail) in kinds.items()
        if kind not in habits
    ]
