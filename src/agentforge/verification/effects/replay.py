"""The same calls under other circumstances: what differs between the runs, and how they are carried out in one fresh checkout."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.suite import Rig, fresh_checkout
from agentforge.testing.channel import Channel
from agentforge.testing.launch import EVIDENCE, TestSandbox, borrowed, box, ground
from agentforge.verification.examples.plain_check import Probe
from agentforge.verification.examples.user_environment import everyday, furnish, paths_of_tests

_NOT_STARTED = (1, 2, 126, 127)
_YEARS_S = 11 * 365.25 * 24 * 3600.0
_REPEATED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstance:
    """What is other in a run than in the plain one.

    Attributes:
        name: as the report tells it: "gives another result ...".
        decides: whether it can have nothing to do with the inputs of a call, so that a contradiction is a finding.
        of_nothing: whether it can be the job of no code at all, so that what a test saw is expectation enough.
        surrounds: whether it is a part of the world that code may well depend on; those are tried apart from the others.
        python_alone: whether node has nothing like it, so that calls of JavaScript are not repeated under it.
        changes: the settings of `_run` that differ; `variables` holds variables of the environment.
    """

    name: str
    decides: bool = False
    of_nothing: bool = False
    surrounds: bool = False
    python_alone: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)


PLAIN = Circumstance(name="")
AGAIN = Circumstance(name="when it is simply run again", changes={"seed": 7})
SINGLE = (
    Circumstance(
        name="with another hash seed",
        decides=True,
        python_alone=True,
        changes={"variables": {"PYTHONHASHSEED": "4242"}},
    ),
    Circumstance(name="under python -O", decides=True, of_nothing=True, python_alone=True, changes={"flags": ["-O"]}),
    Circumstance(name="in a program of another name", decides=True, changes={"program": "/usr/local/bin/program"}),
    Circumstance(name="in another working folder", decides=True, changes={"elsewhere": True}),
    Circumstance(name="for another user on another host", decides=True, changes={"host": "harbour", "user": "maria"}),
    Circumstance(name="without the project's tests", decides=True, of_nothing=True, changes={"no_tests": True}),
    Circumstance(name="when the calls come in another order", changes={"reversed": True}),
    Circumstance(name="when it is called again", changes={"times": _REPEATED, "shares": True}),
    Circumstance(name="when the clock is eleven years later", surrounds=True, changes={"clock_s": _YEARS_S}),
    Circumstance(name="when no environment variable is set", surrounds=True, changes={"bare": True}),
    Circumstance(name="at a terminal", surrounds=True, changes={"terminal": True}),
)
TESTED = Circumstance(name="where no test runner is loaded", decides=True, of_nothing=True, changes={"tested": True})
"""Its runs look as if a test runner had called: what is right there and nowhere else was made for the tests."""


def together(single: Sequence[Circumstance]) -> tuple[Circumstance, Circumstance]:
    """Two circumstances that join many and are tried first: a call that differs in neither is not tried under each alone."""
    return (
        Circumstance(name="decisive", changes=_joined([one for one in single if not one.surrounds])),
        Circumstance(name="told", changes=_joined([one for one in single if one.surrounds])),
    )


def _joined(several: Sequence[Circumstance]) -> dict[str, Any]:
    """The changes of all; their variables stand side by side."""
    variables = {name: value for one in several for name, value in one.changes.get("variables", {}).items()}
    return {key: value for one in several for key, value in one.changes.items()} | (
        {"variables": variables} if variables else {}
    )


TOGETHER = together(SINGLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReply:
    """What a call told in one run.

    Attributes:
        first: {"value": encoded} or {"raised": classes, "stage", "message"} or {"lost": modules}; empty when nothing came.
        again: the first other result when it was repeated; empty when there was none.
        altered: the arguments, as written, that the call changed.
        shared: what a caller does to a result is seen by the next one.
    """

    first: Mapping[str, Any] = field(default_factory=dict)
    again: Mapping[str, Any] = field(default_factory=dict)
    altered: tuple[str, ...] = ()
    shared: bool = False

    @property
    def missing(self) -> bool:
        """Nothing came, or there was nothing to call."""
        return not self.first or "lost" in self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCalls:
    """What one run told: a reply for each call, effects as (number of the call, kind, detail), how it ended, and its cost."""

    replies: tuple[ReplayReply, ...]
    effects: tuple[tuple[int, str, str], ...] = ()
    ended: str = "done"
    cpu_s: float = 0.0


def settled(told: Mapping[str, Any]) -> str:
    """A result as text that is equal for equal results: sets and mappings without their order, exceptions without their words."""
    if "raised" in told:
        return json.dumps([name for name, _ in told["raised"][:1]])
    return json.dumps(_without_order(told.get("value")))


def _without_order(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 2 and value[0] in ("set", "frozenset", "dict"):
        return [value[0], sorted((_without_order(one) for one in value[1]), key=json.dumps)]
    return [_without_order(one) for one in value] if isinstance(value, list) else value


def replay(
    rig: Rig, tree: str, calls: Sequence[Probe], circumstances: Sequence[Circumstance], *, limit_s: float, within_s: float,
) -> list[ReplayedCalls]:  # fmt: skip
    """Evaluate calls in a fresh checkout, once under each circumstance, each in an interpreter of its own.

    Args:
        limit_s: seconds for each circumstance.
        within_s: seconds for all of them; what is not begun by then tells nothing.
    Raises:
        SandboxError: the box cannot be built.
        ToolchainError: the project's interpreter cannot run such checks.
    """
    channel, nonce = Channel(), secrets.token_hex(16)
    with (
        fresh_checkout(rig, tree) as checkout,
        ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place,
    ):
        furnish(place)
        source = "".join((EVIDENCE / f"{name}.py").read_text("utf-8").replace("from __future__ import annotations", "")
                         for name in ("plain_program", "stand_ins_program", "replay_program"))  # fmt: skip
        setup = {
            "descriptor": channel.descriptor, "nonce": nonce, "root": str(place.root), "roots": list(rig.plan.roots),
            "pythonpath": list(rig.plan.pythonpath), "user_site": rig.plan.user_site,
            "source": f"from __future__ import annotations\n{source}",
            "runs": [_run(one, place, calls, limit_s) for one in circumstances], "within_s": within_s,
        }  # fmt: skip
        try:
            with borrowed(rig.plan, place):
                done = rig.sandbox.run(
                    [rig.plan.interpreter, "-"],
                    box=everyday(box(rig.plan, place, env={}), place),
                    timeout_s=within_s + 2 * limit_s,
                    stdin=_script(setup),
                    pass_fds=(channel.descriptor,),
                )
        finally:
            data = channel.drained()[0]
    if not data and done.exit_code in _NOT_STARTED:
        raise ToolchainError(f"{rig.plan.interpreter} cannot replay calls: {done.text[-200:].strip()}")
    return replayed_of(data, nonce, calls=len(calls), runs=len(circumstances))


def _script(setup: Mapping[str, Any]) -> bytes:
    start = "import sys, json\nsys.path[:] = [entry for entry in sys.path if entry]\n"
    text = f"setup = json.loads({json.dumps(setup)!r})\nexec(compile(setup['source'], '<stdin>', 'exec'))\nsupervise(setup)\n"
    return (start + text).encode()


def _run(one: Circumstance, place: TestSandbox, calls: Sequence[Probe], limit_s: float) -> dict[str, Any]:
    """The settings of one run: those of the plain one, and what is other."""
    other = one.changes
    elsewhere = place.scratch / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    variables = {"PYTHONHASHSEED": "0", **other.get("variables", {})}
    if "user" in other:
        variables |= {
            "USER": other["user"],
            "LOGNAME": other["user"],
            "HOME": str(elsewhere),
            "HOSTNAME": other["host"],
        }
    return {
        "calls": [{"source": call.source, "names": call.names} for call in calls], "timeout_s": limit_s,
        "variables": variables, "bare": bool(other.get("bare")), "flags": list(other.get("flags", ())),
        "folder": str(elsewhere) if other.get("elsewhere") else "", "program": str(other.get("program", "")),
        "without": paths_of_tests(place.checkout) if other.get("no_tests") else [], "host": str(other.get("host", "")),
        "seed": int(other.get("seed", 1)), "clock_s": float(other.get("clock_s", 0)), "times": int(other.get("times", 1)),
        "reversed": bool(other.get("reversed")), "shares": bool(other.get("shares")), "watched": one.name == "",
        "terminal": bool(other.get("terminal")), "tested": bool(other.get("tested")),
    }  # fmt: skip


def replayed_of(data: bytes, nonce: str, *, calls: int, runs: int) -> list[ReplayedCalls]:
    """Read what a supervisor told of its runs; a run of which nothing came has ended early."""
    empty = ReplayedCalls(replies=tuple(ReplayReply() for _ in range(calls)), ended="ended early")
    found = [empty] * runs
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn by the end of the process: that run counts as ended early
        if isinstance(record, dict) and record.get("nonce") == nonce and 0 <= int(record.get("run", -1)) < runs:
            found[int(record["run"])] = _of_record(record, calls)
    return found


def _of_record(record: Mapping[str, Any], calls: int) -> ReplayedCalls:
    replies = [ReplayReply() for _ in range(calls)]
    effects: list[tuple[int, str, str]] = []
    for row in record["rows"]:
        if "effects" in row:
            effects = [(int(number), str(kind), str(detail)) for number, kind, detail in row["effects"]]
            continue
        number = int(row["number"])
        if "shared" in row:
            replies[number] = replace(replies[number], shared=True)
        else:
            replies[number] = ReplayReply(
                first=row["first"], again=row.get("again", {}), altered=tuple(row.get("altered", ()))
            )
    return ReplayedCalls(
        replies=tuple(replies), effects=tuple(effects), ended=str(record["ended"]), cpu_s=float(record["cpu_s"])
    )
