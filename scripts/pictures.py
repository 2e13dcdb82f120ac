"""Make the pictures of the documentation: a cast of `agentforge demo`, its last screen, the interactive screens."""

from __future__ import annotations

import codecs
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import time
from fcntl import ioctl
from io import StringIO
from itertools import groupby
from pathlib import Path
from termios import TIOCSWINSZ

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "pictures"
_COLUMNS, _ROWS = 110, 34
_LONGEST_PAUSE_S = 1.2
_SCREENS = {"answer-80x24.svg": "screen-answer.svg", "approval-diff.svg": "screen-approval.svg"}


def main() -> None:
    """Write all of them below docs/pictures/."""
    TARGET.mkdir(exist_ok=True)
    frames = record([sys.executable, "-m", "agentforge", "demo"])
    write_cast(frames, TARGET / "demo.cast")
    write_still(frames, TARGET / "demo.svg")
    for source, name in _SCREENS.items():
        shutil.copy(ROOT / "tests" / "tui" / "pictures" / source, TARGET / name)


def record(argv: list[str]) -> list[tuple[float, str]]:
    """Run a program in a terminal of its own; what it wrote, each piece with the seconds since its start."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    began = time.monotonic()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(_COLUMNS), "LINES": str(_ROWS)}
    program = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True)
    os.close(theirs)
    decode = codecs.getincrementaldecoder("utf-8")("replace")
    frames: list[tuple[float, str]] = []
    while True:
        ready, _, _ = select.select([ours], [], [], 0.2)
        try:
            data = os.read(ours, 65_536) if ready else b""
        except OSError:  # the other end is closed
            break
        if data:
            text = decode.decode(data).replace(f"{ROOT}/src/", "")  # where this checkout lies is nobody's business
            frames.append((time.monotonic() - began, text))
        elif program.poll() is not None:
            break
    if program.wait() != 0:
        raise SystemExit(f"{' '.join(argv)} ended with {program.returncode}")
    return frames


def write_cast(frames: list[tuple[float, str]], file: Path) -> None:
    """Write an asciicast (version 2); long waits are cut short, and it says so nowhere else than here."""
    head = {
        "version": 2,
        "width": _COLUMNS,
        "height": _ROWS,
        "title": "agentforge demo",
        "idle_time_limit": _LONGEST_PAUSE_S,
    }
    lines = [json.dumps(head)]
    lines += [json.dumps([round(at, 3), "o", text], ensure_ascii=False) for at, text in frames]
    file.write_text("\n".join(lines) + "\n", "utf-8")


def write_still(frames: list[tuple[float, str]], file: Path) -> None:
    """Write the last screenful of the cast as a picture."""
    import pyte
    from rich.console import Console
    from rich.style import Style
    from rich.text import Text

    screen = pyte.Screen(_COLUMNS, _ROWS)
    stream = pyte.Stream(screen)
    for _, text in frames:
        stream.feed(text)
    console = Console(width=_COLUMNS, record=True, file=StringIO())
    for row in range(_ROWS):
        line = Text()
        cells = [screen.buffer[row][column] for column in range(_COLUMNS)]
        for (color, bold), run in groupby(cells, key=lambda cell: (cell.fg, cell.bold)):
            known = None if color == "default" else {"brown": "yellow"}.get(color, color)
            line.append("".join(cell.data for cell in run), Style(color=known, bold=bold))
        line.rstrip()
        console.print(line)
    file.write_text(console.export_svg(title="agentforge demo"), "utf-8")


if __name__ == "__main__":
    main()
