"""How far a job is."""

from typing import TextIO


def percent(done: int, total: int) -> int:
    """Give the share that is done, in whole per cent."""
    return 100 * done // total


class Progress:
    """Tells how many steps of a job are done."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._stream = stream
        self._done = 0

    def step(self) -> None:
        """Count one more step; a terminal sees every step, anything else the last one."""
        self._done += 1
        ended = self._done == self._total
        if self._stream.isatty():
            self._stream.write(f"\r{self._done}/{self._total}" + ("\n" if ended else ""))
        elif ended:
            self._stream.write(f"{self._done}/{self._total} done\n")
