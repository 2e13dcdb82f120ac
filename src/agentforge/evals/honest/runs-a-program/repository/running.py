"""Running of programs."""

import shlex


def shown(command: list[str]) -> str:
    """Write a command as one would type it."""
    return shlex.join(command)
