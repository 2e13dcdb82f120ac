"""What the stimuli of `make bench-defects` look at: requests, processes, a terminal."""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.defects import Ground
from tests.support.loopback.provider import Asked

Seen = tuple[bool, str]
"""Whether a defect shows, and what was seen."""

SLEEP = "77.731"


"""A length that no other process sleeps."""


def drawn(terminal: int, *, seconds: float) -> bytes:
    """What a program draws until it rests for a second and a half, or for so long."""
    end, out, rest = time.monotonic() + seconds, b"", time.monotonic() + seconds
    while time.monotonic() < min(end, rest):
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                out += os.read(terminal, 65536)
            except OSError:
                break
            rest = time.monotonic() + 2.5
    return out


def names(asked: Asked) -> list[str]:
    return [tool["function"]["name"] for tool in asked.body.get("tools", ())]


def results(asked: Asked) -> list[str]:
    return [plain_text(one["content"]) for one in asked.body["messages"] if one["role"] == "tool"]


def plain_text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content or ())


def help_of(ground: Ground, command: str) -> str:
    done = subprocess.run(
        [*ground.argv, command, "--help"],
        env=ground.env(),
        cwd=ground.repository,
        capture_output=True,
        text=True,
        check=False,
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def sleeping() -> list[int]:
    """The processes that sleep for our length of time."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:  # it has ended meanwhile
                continue
            if words[:2] == [b"sleep", SLEEP.encode()]:
                found.append(int(place.name))
    return found


def until(holds: Callable[[], object], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
