"""Reading messages line by line: with history and completion on a terminal, one a line from a pipe."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentforge.cli.startup.stdin import as_text
from agentforge.errors import UsageError

if TYPE_CHECKING:
    from agentforge.app.sessions.input_history import Typed

Completer = Callable[[str], list[str]]
_LONGEST = 20_000_000


class PipeReader:
    """Messages of a pipe: one a line."""

    def read(self) -> str | None:
        """The next message, None at the end.

        Raises:
            UsageError: a line that is longer than any message, or is no text.
        """
        data = sys.stdin.buffer.readline(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise UsageError(
                f"a line of standard input has more than {_LONGEST:,} bytes",
                hint='every line is a message; to hand over a whole file: agentforge run "..." < FILE',
            )
        return as_text(data).rstrip("\r\n") if data else None


class TerminalReader:
    """Messages of a person: line editing and history by readline, a backslash at the end goes on in the next line.

    Args:
        complete: the words that could stand for a begun one.
    """

    def __init__(self, typed: Typed, *, complete: Completer) -> None:
        self._typed = typed
        self._kept: list[str] = []
        self._readline = _prepared(typed, complete)

    def read(self) -> str | None:
        """The next message, None at the end of the input.

        Raises:
            KeyboardInterrupt: Ctrl-C on an empty line; on a begun one it only clears the line.
        """
        if self._kept:
            return self._kept.pop(0)
        lines: list[str] = []
        while True:
            try:
                line = input("> " if not lines else ". ")
            except EOFError:
                sys.stdout.write("\n")
                return None
            except KeyboardInterrupt:
                sys.stdout.write("\n")
                if not lines and not self._begun():
                    raise
                lines = []
                continue
            if line.endswith("\\"):
                lines.append(line[:-1])
                continue
            text = "\n".join([*lines, line])
            self._typed.add(text)
            return text

    def typed_meanwhile(self) -> list[str]:
        """The messages that were typed while nobody asked for one; commands among them are kept for `read`."""
        lines: list[str] = []
        while select.select([sys.stdin], [], [], 0)[0]:
            data = os.read(sys.stdin.fileno(), 65_536)
            if not data:  # the end of the input: `read` meets it, too
                break
            lines += [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
        self._kept += [line for line in lines if line.lstrip().startswith("/")]
        messages = [line for line in lines if not line.lstrip().startswith("/")]
        for line in messages:
            self._typed.add(line)
        return messages

    def answer(self, prompt: str) -> str | None:
        """One line that is no message: it does not go into the history."""
        try:
            text = input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return None
        if text and self._readline is not None:
            self._readline.remove_history_item(self._readline.get_current_history_length() - 1)
        return text

    def _begun(self) -> bool:
        return bool(self._readline is not None and self._readline.get_line_buffer())


def _prepared(typed: Typed, complete: Completer):  # type: ignore[no-untyped-def]  # the module readline, or None
    try:
        import readline
    except ImportError:  # a Python without it: lines can still be typed
        return None
    for line in typed.lines:
        readline.add_history(line.replace("\n", " "))
    found: list[str] = []

    def completer(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = complete(word)
        return found[number] if number < len(found) else None

    readline.set_completer_delims(" \t\n")
    readline.set_completer(completer)
    edit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if edit else "tab: complete")
    return readline
