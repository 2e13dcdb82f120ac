"""Runs in a listing whose trail cannot be believed: named, with what to do, and the exit code that goes with them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from agentforge.cli.output.terminal import printable
from agentforge.errors import EXIT_DONE, IntegrityError


def tell_damaged(found: Iterable[tuple[str, str, str]]) -> int:
    """Name the damaged tasks of a listing on stderr.

    Args:
        found: (task, how it stands, why it cannot be read) of every task.
    Returns:
        The exit code of the listing: that of IntegrityError when one is damaged, else 0.
    """
    damaged = [(task, why) for task, standing, why in found if standing == "damaged"]
    for task, why in damaged:
        sys.stderr.write(
            f"error[{IntegrityError.slug}]: {task}: {printable(why).replace('verify ID', f'verify {task}')}\n"
        )
    return IntegrityError.exit_code if damaged else EXIT_DONE
