"""One of our programs in a plain process of the project's interpreter, in a fresh checkout, and what it told."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.suite import Rig, fresh_checkout
from agentforge.testing.channel import Channel
from agentforge.testing.launch import EVIDENCE, TestSandbox, borrowed, box, ground
from agentforge.verification.examples.user_environment import everyday, furnish

_NOT_STARTED = (1, 2, 126, 127)
_FUTURE = "from __future__ import annotations"


def carried_out(
    rig: Rig, tree: str, program: str, setup: Mapping[str, Any], *, variables: Mapping[str, str], limit_s: float
) -> list[dict[str, Any]]:
    """Run a program of `testing/programs` on a fresh checkout of a tree.

    Args:
        program: the name of its file, without `.py`; it is started by its `main(setup)`.
        setup: JSON values.
        variables: of the environment, beside what every user has.
    Returns:
        The records that it told; an empty list where it was ended before the first.
    Raises:
        SandboxError: the box cannot be built.
        ToolchainError: the project's interpreter cannot run it.
    """
    with (
        fresh_checkout(rig, tree) as checkout,
        ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place,
    ):
        furnish(place)
        return carried_out_in(place, rig, program, setup, variables=variables, limit_s=limit_s)


def carried_out_in(
    place: TestSandbox,
    rig: Rig,
    program: str,
    setup: Mapping[str, Any],
    *,
    variables: Mapping[str, str],
    limit_s: float,
) -> list[dict[str, Any]]:
    """The same in a checkout that stands already: see `carried_out`."""
    if not rig.plan.interpreter:
        raise ToolchainError("the project has no interpreter of Python")
    channel, nonce = Channel(), secrets.token_hex(16)
    told = {
        "descriptor": channel.descriptor, "nonce": nonce, "root": str(place.root), "roots": list(rig.plan.roots),
        "pythonpath": list(rig.plan.pythonpath), "user_site": rig.plan.user_site, **setup,
    }  # fmt: skip
    try:
        with borrowed(rig.plan, place):
            done = rig.sandbox.run(
                [rig.plan.interpreter, "-"],
                box=everyday(box(rig.plan, place, env=variables), place),
                timeout_s=limit_s,
                stdin=script(program, told),
                pass_fds=(channel.descriptor,),
            )
    finally:
        data = channel.drained()[0]
    if not data and done.exit_code in _NOT_STARTED:
        raise ToolchainError(f"{rig.plan.interpreter} cannot run {program}: {done.text[-200:].strip()}")
    return _genuine(data, nonce)


def script(program: str, setup: Mapping[str, Any]) -> bytes:
    """The program behind the one whose functions it uses, and its instructions, as one script."""
    source = "".join(_text(name) for name in ("plain_program", "replay_program", program))
    start = "import sys, json\nsys.path[:] = [entry for entry in sys.path if entry]\n"
    whole = f"{_FUTURE}\n{source}"
    run = f"exec(compile({whole!r}, '<stdin>', 'exec'))\nmain(json.loads({json.dumps(setup)!r}))\n"
    return (start + run).encode()


def _text(name: str) -> str:
    return Path(EVIDENCE / f"{name}.py").read_text("utf-8").replace(_FUTURE, "")


def _genuine(data: bytes, nonce: str) -> list[dict[str, Any]]:
    found = []
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn by the end of the process: what it would have told is missing
        if isinstance(record, dict) and record.pop("nonce", "") == nonce:
            found.append(record)
    return found
