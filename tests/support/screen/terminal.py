"""A real terminal around the real program: tmux is the terminal, bytes go in, the screen comes out.

tmux is driven in its control mode: it says when the pane wrote something, so that nothing here sleeps or counts time.
"""

from __future__ import annotations

import os
import selectors
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

_PATIENCE_S = 90.0
_CONFIG = "set -g status off\nset -g default-terminal tmux-256color\nset -g history-limit 5000\n"


class Terminal:
    """The program on a terminal of its own. Use as a context manager.

    Args:
        folder: for tmux's own files.
        arguments: of `agentforge`.
        environ: what the program sees, whole.
        ground: the background that the terminal names when it is asked; "" = it does not answer.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        cwd: Path,
        environ: Mapping[str, str],
        size: tuple[int, int] = (80, 24),
        ground: str = "",
    ) -> None:
        self._folder = folder
        config = folder / "tmux.conf"
        config.write_text(_CONFIG + (f"set -g window-style bg={ground}\n" if ground else ""))
        variables = [f"{name}={value}" for name, value in environ.items()]
        program = shlex.join(["env", "-i", *variables, sys.executable, "-m", "agentforge", *arguments])
        program = f"{program}; echo left with $?; exec cat"
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", str(config)]
        self._process = subprocess.Popen(
            [*self._tmux, "-C", "new-session", "-x", str(size[0]), "-y", str(size[1]), "-c", str(cwd), program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
        )
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._begun = b""
        self._answer()  # of new-session itself
        self.resize(*size)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_error: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
        self._process.communicate()
        self._selector.close()

    def send(self, data: bytes) -> None:
        """Give the program bytes, as its keyboard would."""
        for start in range(0, len(data), 512):
            self._command(f"send-keys -H {' '.join(f'{byte:02x}' for byte in data[start : start + 512])}")

    def paste(self, data: bytes) -> None:
        """Give the program many bytes at once, as a terminal does when somebody pastes."""
        buffer = self._folder / "paste"
        buffer.write_bytes(data)
        self._command(f"load-buffer {shlex.quote(str(buffer))}")
        self._command("paste-buffer -r")

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal larger or smaller."""
        self._command(f"refresh-client -C {columns}x{rows}")

    def text(self, *, styles: bool = False) -> str:
        """What stands on the screen; with `styles` its colours as escape sequences."""
        return "\n".join(self._command(f"capture-pane -p{' -e' if styles else ''}"))

    def until(self, *words: str, gone: bool = False, styles: bool = False) -> str:
        """Wait until all these words stand on the screen at once (or none stands there any more); returns the screen.

        The program draws a screen in pieces: what belongs to one screen is asked for in one call, not looked up afterwards.
        """
        deadline = monotonic() + _PATIENCE_S
        while True:
            shown = self.text(styles=styles)
            if all((each in shown) is not gone for each in words):
                return shown
            self._wait_for_output(deadline, words, shown)

    def ended(self) -> str:
        """Wait until the program has ended; what stands on the terminal then."""
        return self.until("left with")

    def _command(self, line: str) -> list[str]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> list[str]:
        rows: list[str] | None = None
        deadline = monotonic() + _PATIENCE_S
        while True:
            line = self._line(deadline)
            if line.startswith("%begin "):
                rows = []
            elif line.startswith("%error "):
                raise AssertionError(f"tmux: {rows}")
            elif line.startswith("%end ") and rows is not None:
                return rows
            elif rows is not None:
                rows.append(line)

    def _wait_for_output(self, deadline: float, words: tuple[str, ...], shown: str) -> None:
        try:
            while not self._line(deadline).startswith(("%output", "%pane-died", "%layout-change")):
                pass
        except TimeoutError:
            raise AssertionError(f"never so on the screen: {words!r}\n{shown}") from None

    def _line(self, deadline: float) -> str:
        """The next line that tmux says."""
        assert self._process.stdout is not None
        while b"\n" not in self._begun:
            if not self._selector.select(max(0.0, deadline - monotonic())):
                raise TimeoutError
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            assert data, "tmux has ended"
            self._begun += data
        line, _, self._begun = self._begun.partition(b"\n")
        return line.decode("utf-8", "replace")
