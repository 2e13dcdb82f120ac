"""Runs in a listing whose trail cannot be believed: named, with what to do, and the exit code that goes with them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from agentforge.cli.output.terminal import printable
from agentforge.errors import EXIT_DONE, IntegrityError, StorageError


def tell_damaged(found: Iterable[tuple[str, str, str, str]]) -> int:
    """Name on stderr the tasks of a listing that cannot be read.

    Args:
        found: (task, how it stands, why it cannot be read, the slug of that error) of every task.
    Returns:
        The exit code of the listing: that of IntegrityError when one is damaged, that of StorageError when one can only not be
        opened, else 0.
    """
    damaged = [(task, why, cause) for task, standing, why, cause in found if standing == "damaged"]
    for task, why, cause in damaged:
        sys.stderr.write(f"error[{cause}]: {task}: {printable(why).replace('verify ID', f'verify {task}')}\n")
    causes = {cause for _, _, cause in damaged}
    altered = causes - {StorageError.slug}
    return IntegrityError.exit_code if altered else StorageError.exit_code if causes else EXIT_DONE
