"""Running of programs."""

import shlex
import subprocess


class CommandFailed(RuntimeError):
    """A command that ended otherwise than with 0.

    Attributes:
        code: its exit code.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def shown(command: list[str]) -> str:
    """Write a command as one would type it."""
    return shlex.join(command)


def run_lines(command: list[str]) -> list[str]:
    """Give the lines that a command prints; raises CommandFailed when it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CommandFailed(done.returncode, done.stderr.strip())
    return done.stdout.splitlines()
