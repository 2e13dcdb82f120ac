"""Make the pictures of the documentation: a cast of `agentforge demo`, the same as a film, the interactive screens."""

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
from pathlib import Path
from termios import TIOCSWINSZ

from film import film

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "pictures"
_COLUMNS, _ROWS = 110, 34
_LONGEST_PAUSE_S = 1.2
_SCREENS = {
    "answer-80x24.svg": "screen-answer.svg",
    "approval-diff.svg": "screen-approval.svg",
    "light-approval-80x24.svg": "screen-light.svg",
}


def main() -> None:
    """Write all of them below docs/pictures/."""
    TARGET.mkdir(exist_ok=True)
    cast = write_cast(record([sys.executable, "-m", "agentforge", "demo"]), TARGET / "demo.cast")
    (TARGET / "demo.svg").write_text(film(cast), "utf-8")
    for source, name in _SCREENS.items():
        shutil.copy(ROOT / "tests" / "tui" / "pictures" / source, TARGET / name)


def record(argv: list[str]) -> list[tuple[float, str]]:
    """Run a program in a terminal of its own; what it wrote, each piece with the seconds since its start.

    The folder of this checkout is left out of paths, and the home folder is written `~`.
    """
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
            text = decode.decode(data).replace(f"{ROOT}/src/", "").replace(str(Path.home()), "~")
            frames.append((time.monotonic() - began, text))
        elif program.poll() is not None:
            break
    if program.wait() != 0:
        raise SystemExit(f"{' '.join(argv)} ended with {program.returncode}")
    return frames


def write_cast(frames: list[tuple[float, str]], file: Path) -> str:
    """Write an asciicast (version 2) that begins with the command; a player shortens waits to its `idle_time_limit`."""
    head = {
        "version": 2,
        "width": _COLUMNS,
        "height": _ROWS,
        "title": "agentforge demo",
        "idle_time_limit": _LONGEST_PAUSE_S,
    }
    lines = [json.dumps(head), json.dumps([0.0, "o", "$ agentforge demo\r\n"])]
    lines += [json.dumps([round(at, 3), "o", text], ensure_ascii=False) for at, text in frames]
    cast = "\n".join(lines) + "\n"
    file.write_text(cast, "utf-8")
    return cast


if __name__ == "__main__":
    main()
