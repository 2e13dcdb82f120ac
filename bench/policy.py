"""What a decision about a shell line costs, and what redaction does."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

_ROUNDS = 5


def policy_rows() -> list[tuple[str, str, dict[str, float | str]]]:
    """CPU per line over the commands of every day, the grammar loaded before."""
    from agentforge.evals.attack_case import everyday_commands
    from agentforge.safety.policy.decision import decide_command
    from agentforge.safety.policy.part import Policy
    from agentforge.safety.policy.path_policy import PathPolicy

    policy = Policy(ground=PathPolicy(root="/workspace", folder="/workspace", home="/home/ann"))
    lines = everyday_commands()
    decide_command("ls", policy)
    began = time.process_time()
    for _ in range(_ROUNDS):
        for line in lines:
            decide_command(line, policy)
    spent = (time.process_time() - began) / (_ROUNDS * len(lines))
    return [
        ("decide about a shell line, CPU ms", "1", {"AgentForge": spent * 1000}),
        ("redact 100 kB of source, CPU ms", "", {"AgentForge": _redaction_s() * 1000}),
    ]


def _redaction_s() -> float:
    """CPU for 100,000 characters of the standard library."""
    from agentforge.safety.text.redaction import redact

    text = Path(argparse.__file__).read_text("utf-8").ljust(100_000)[:100_000]
    redact(text)
    began = time.process_time()
    for _ in range(_ROUNDS):
        redact(text)
    return (time.process_time() - began) / _ROUNDS
