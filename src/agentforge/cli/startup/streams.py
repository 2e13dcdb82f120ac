"""Standard input, output and error as a command can rely on them: always there, and quiet about a reader that left."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from agentforge.errors import EXIT_HUNG_UP, StorageError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_NAMES = ("stdin", "stdout", "stderr")
_ORIGINALS = {"stdout": sys.__stdout__, "stderr": sys.__stderr__}


class _Sink(io.FileIO):
    """A descriptor that may fail for good: what is written then is lost, and the command goes on to its own end.

    Attributes:
        failure: why nothing can be written any more.
    """

    failure: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Write some of it, waiting for a pipe that another program made non-blocking; or let it go."""
        if self.failure is None:
            try:
                while (written := super().write(data)) is None:
                    _wait_for(self)
                return written
            except OSError as exc:
                self.failure = exc
        return memoryview(data).nbytes


def prepare() -> None:
    """Make the three streams of this process fit for commands.

    A descriptor that is closed reads as empty and swallows what is written. A reader that leaves (`... | head -1`) and a
    full disk end no command: its work and its exit code stay what they are. A terminal that cannot show a character gets
    one that looks like it; elsewhere an escape stands for it.

    Side effects: replaces `sys.stdout` and `sys.stderr` where they are the interpreter's own and no terminal.
    """
    for number, name in enumerate(_NAMES):
        if getattr(sys, name) is None:
            _open_nothing(number, name)
    for number, name in enumerate(_NAMES):
        if number and getattr(sys, name) is _ORIGINALS[name] and not getattr(sys, name).isatty():
            setattr(sys, name, _patient(number, getattr(sys, name)))
    _tolerant()


def reader_left() -> bool:
    """Whether nobody reads what this process prints any more; asked by commands that print for ever."""
    return isinstance(_failure(), BrokenPipeError)


def hung_up(error: Exception) -> bool:
    """Whether an error says that the terminal of this process is gone, so that nobody is left to be told.

    Side effects: what is still written to the terminal is lost from then on, and raises no more.
    """
    gone = isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None
    if gone:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(len(_NAMES)):
            if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(
                number
            ):  # what was a terminal, or is the null device
                os.dup2(nothing, number)
    return gone


def checked(code: int) -> int:
    """Flush, and say so when something of the output was lost that somebody still waits for.

    Args:
        code: what the command ended with.
    Returns:
        The code; that of a storage error where the command itself had none to tell; 129 where the terminal went away.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as exc:
        if hung_up(exc):
            return EXIT_HUNG_UP
        raise
    failure = _failure()
    if failure is None or isinstance(failure, BrokenPipeError):
        return code
    told = StorageError(f"the output cannot be written: {failure.strerror}", hint="write it where there is room")
    sys.stderr.write(f"error[{told.slug}]: {told}\n")
    return code or told.exit_code


def _failure() -> OSError | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.failure if isinstance(raw, _Sink) else None


def _wait_for(sink: _Sink) -> None:
    import select

    select.select([], [sink], [])


def _open_nothing(number: int, name: str) -> None:
    """Put the null device where a descriptor was closed, before a file of ours gets its number."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    if descriptor != number:
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.set_inheritable(number, True)
    setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _patient(number: int, stream: TextIO) -> TextIO:
    sink = io.BufferedWriter(_Sink(number, "w", closefd=False))
    return io.TextIOWrapper(
        sink,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def _tolerant() -> None:
    plain = _is_plain(os.environ)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if plain and stream.isatty():
            from agentforge.tui import ERRORS, register

            register()
            known = stream.encoding.lower().replace("-", "")
            reconfigure(encoding="ascii" if known.startswith("utf") else None, errors=ERRORS)
        else:
            reconfigure(errors="backslashreplace")


def _is_plain(environ: Mapping[str, str]) -> bool:
    """Whether the user's locale is one that is not UTF-8; Python may have taken another one for itself."""
    said = environ.get("LC_ALL") or environ.get("LANG") or ""
    if not said or "utf" in said.lower():
        return False
    from agentforge.tui import knows_unicode

    return not knows_unicode(environ)
