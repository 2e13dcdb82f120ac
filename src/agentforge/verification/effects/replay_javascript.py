"""The same calls of JavaScript under other circumstances, each time in a node process of its own; see `replay.py`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.languages.symbols import Symbol
from agentforge.suite import Rig, fresh_checkout
from agentforge.testing.channel import Channel
from agentforge.testing.launch import TestSandbox, borrowed, box, ground
from agentforge.verification.effects.measured_dependencies import MOST_CALLS, MeasuredCall, RecordedLanguage
from agentforge.verification.effects.replay import SINGLE, Circumstance, ReplayedCalls, replayed_of, together
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.claims_javascript import arguments_of, texts_of
from agentforge.verification.examples.plain_javascript import (
    NodeProbe,
    node_path,
    program_of,
    resolved_in_node,
    tests_in,
)
from agentforge.verification.examples.rerun_assertions import claims_of_tests, probe_of_claim
from agentforge.verification.examples.user_environment import everyday, furnish

_NOT_STARTED = (1, 2, 9, 126, 127)


def node_calls(
    claims: Iterable[Claim], tests: Sequence[str], *, symbols: Sequence[Symbol], rig: Rig, tree: str
) -> tuple[MeasuredCall, ...]:
    """The calls that can be repeated: examples of request and specification, and those of frozen straight-line tests.

    Args:
        tests: ids of the frozen tests.
    """
    found: dict[str, MeasuredCall] = {}
    for claim in claims:
        probe = resolved_in_node(claim.call, symbols, rig, tree)
        if probe is not None:
            call = MeasuredCall(probe=probe, returns=claim.returns, raises=claim.raises, hidden=claim.hidden)
            found.setdefault(claim.call, call)
    for one in claims_of_tests(rig, tree, tests):
        found.setdefault(one.call, MeasuredCall(probe=probe_of_claim(one), returns=one.returns))
    return tuple(found.values())[:MOST_CALLS]


def replay_in_node(
    rig: Rig, tree: str, calls: Sequence[NodeProbe], circumstances: Sequence[Circumstance], *, limit_s: float, within_s: float,
) -> list[ReplayedCalls]:  # fmt: skip
    """Evaluate calls in a fresh checkout, once under each circumstance, each in a process of its own.

    Args:
        limit_s: seconds for each circumstance.
        within_s: seconds for all of them; what is not begun by then tells nothing.
    Raises:
        SandboxError: the box cannot be built.
        ToolchainError: there is no node on PATH, or it cannot run such checks.
    """
    node, channel, nonce = node_path(), Channel(), secrets.token_hex(16)
    with (
        fresh_checkout(rig, tree) as checkout,
        ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place,
    ):
        furnish(place)
        setup = {
            "descriptor": channel.descriptor, "nonce": nonce, "root": str(place.root), "within_s": within_s,
            "source": program_of("calls", "watch", "replay"),
            "runs": [_run(one, place, calls, limit_s) for one in circumstances],
        }  # fmt: skip
        try:
            with borrowed(rig.plan, place):
                done = rig.sandbox.run(
                    [node, "--input-type=module", "-"],
                    box=everyday(box(rig.plan, place, env={}), place),
                    timeout_s=within_s + 2 * limit_s,
                    stdin=f"globalThis.__setup = {json.dumps(setup)};\n{program_of('supervisor')}".encode(),
                    pass_fds=(channel.descriptor,),
                )
        finally:
            data = channel.drained()[0]
    if not data and done.exit_code in _NOT_STARTED:
        raise ToolchainError(f"{node} cannot replay calls: {done.text[-200:].strip()}")
    return replayed_of(data, nonce, calls=len(calls), runs=len(circumstances))


def _run(one: Circumstance, place: TestSandbox, calls: Sequence[NodeProbe], limit_s: float) -> dict[str, Any]:
    """The settings of one run: those of the plain one, and what is other."""
    other = one.changes
    elsewhere = place.scratch / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    user = str(other.get("user", ""))
    variables = dict(other.get("variables", {}))
    if user:
        variables |= {"USER": user, "LOGNAME": user, "HOME": str(elsewhere), "HOSTNAME": str(other.get("host", ""))}
    return {
        "calls": [_call(one) for one in calls], "timeout_s": limit_s, "variables": variables,
        "bare": bool(other.get("bare")), "folder": str(elsewhere) if other.get("elsewhere") else "",
        "program": str(other.get("program", "")), "host": str(other.get("host", "")), "word": secrets.token_hex(4),
        "without": [str(one.relative_to(place.checkout)) for one in tests_in(place.checkout)] if other.get("no_tests") else [],
        "clock_s": float(other.get("clock_s", 0)), "times": int(other.get("times", 1)),
        "reversed": bool(other.get("reversed")), "shares": bool(other.get("shares")), "watched": one.name == "",
        "terminal": bool(other.get("terminal")),
    }  # fmt: skip


def _call(probe: NodeProbe) -> dict[str, Any]:
    """A call with its arguments that can be changed taken out."""
    filled, arguments = arguments_of(probe.source)
    names = {name: {"file": file, "whole": whole} for name, (file, whole) in probe.names.items()}
    return {"source": probe.source, "filled": filled, "arguments": arguments, "names": names}


_SINGLE = tuple(one for one in SINGLE if not one.python_alone)
JAVASCRIPT = RecordedLanguage(replay=replay_in_node, single=_SINGLE, together=together(_SINGLE), texts=texts_of)
