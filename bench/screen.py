"""The interactive screen on a terminal of its own: CPU until its first prompt is drawn, and what a long stream costs.

python -m bench.screen [--runs 5]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from pathlib import Path

from bench.processes import own_cpu_s
from bench.scenes import environment, make_repository

_PROMPT = b"for commands, @"
_LONGEST_S = 120.0
_WORDS = 2_000


def screen_rows(folder: Path, *, runs: int) -> list[tuple[str, str, dict[str, float | str]]]:
    """Rows for the table of `make bench`: (figure, limit, value by program)."""
    found = [_measured(folder) for _ in range(runs)]
    names = ("cpu_s", "rss_mib", "stream_s")
    mine = {name: statistics.median(one[name] for one in found) for name in names}
    return [
        ("screen: first prompt, CPU s", "0.5", {"AgentForge": mine["cpu_s"]}),
        ("  memory then, MiB", "", {"AgentForge": mine["rss_mib"]}),
        (f"screen: a reply of {_WORDS:,} pieces, CPU s", "", {"AgentForge": mine["stream_s"]}),
    ]


def _measured(folder: Path) -> dict[str, float]:
    repository, home = folder / "screen-repository", folder / "screen-home"
    env = {**environment(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    if not repository.exists():
        make_repository(repository)
        program = str(Path(sys.executable).with_name("agentforge"))
        subprocess.run([program, "trust", str(repository), "--yes"], env=env, check=True, stdout=subprocess.DEVNULL)
    script = folder / "screen.json"
    text = " ".join(f"word{index}" for index in range(_WORDS))
    script.write_text(json.dumps({"chat": [{"text": text}, {"text": "Over."}]}))
    terminal = _Terminal(["--model", f"scripted/{script}"], env=env, cwd=repository)
    try:
        terminal.until(_PROMPT)
        cpu_s = own_cpu_s(terminal.pid)
        pages = int(Path(f"/proc/{terminal.pid}/statm").read_bytes().split()[1])
        terminal.send(b"go\r")
        terminal.until(f"word{_WORDS - 1}".encode())
        stream_s = own_cpu_s(terminal.pid) - cpu_s
    finally:
        terminal.end()
    return {"cpu_s": cpu_s, "rss_mib": pages * os.sysconf("SC_PAGE_SIZE") / 2**20, "stream_s": stream_s}


class _Terminal:
    """AgentForge on a pseudo terminal of 80 x 24."""

    def __init__(self, arguments: list[str], *, env: Mapping[str, str], cwd: Path) -> None:
        program = str(Path(sys.executable).with_name("agentforge"))
        self._out = b""
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execve(program, [program, *arguments], dict(env))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def until(self, text: bytes) -> None:
        """Read until a text was drawn; what was read is forgotten.

        Raises:
            RuntimeError: it does not come.
        """
        end = time.monotonic() + _LONGEST_S
        while text not in self._out:
            if time.monotonic() > end or not self._read():
                raise RuntimeError(f"the screen never drew {text!r}: {self._out[-400:]!r}")
        self._out = b""

    def send(self, data: bytes) -> None:
        """Type."""
        os.write(self._fd, data)

    def end(self) -> None:
        """Kill it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)

    def _read(self) -> bool:
        if not select.select([self._fd], [], [], 0.5)[0]:
            return True
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # it ended
            return False
        self._out += data
        return bool(data)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as folder:
        for figure, limit, values in screen_rows(Path(folder), runs=options.runs):
            sys.stdout.write(f"{figure:<44}{limit:>6}  {values['AgentForge']:.2f}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
