"""Are the changes that `bench.faults` tries all that there are? The kernel's view of the same run, by strace, beside them.

    python -m bench.faults_traced        # exit code 1 when the program or its git changes something that is not counted

What runs inside a sandbox is the project's own and is left out, as it is in `bench.faults`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.kills.every_change import SCENARIOS, Trial
from tests.support.kills.faults import named

_CALLS = {
    "write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write", "pwritev2": "write", "sendfile": "write",
    "copy_file_range": "write", "rename": "rename", "renameat": "rename", "renameat2": "rename", "link": "link",
    "linkat": "link", "symlink": "symlink", "symlinkat": "symlink", "mkdir": "mkdir", "mkdirat": "mkdir",
    "unlink": "unlink", "unlinkat": "unlink", "rmdir": "unlink", "truncate": "truncate", "ftruncate": "truncate",
    "fallocate": "write", "fsync": "sync", "fdatasync": "sync", "sync_file_range": "sync",
}  # fmt: skip
_LINE = re.compile(r"(\w+)\((.*)\)\s+= (\d+)")
_STARTED = re.compile(r"(?:clone|clone3|fork|vfork)\(.*\)\s+= (\d+)$", re.MULTILINE)
_OURS = re.compile(r'^execve\("[^"]*/(git|python[\d.]*)",.*= 0$', re.MULTILINE)
_OTHER = re.compile(r"^execve\(.*= 0$", re.MULTILINE)
_FIRST = '"-m", "agentforge", "start"'
_BOXED = re.compile(r'^execve\("[^"]*bwrap"')


def main() -> int:
    """Run `start` once under each; print what only the kernel saw."""
    with tempfile.TemporaryDirectory(prefix="agentforge-faults-") as folder:
        with Trial(Path(folder).resolve(), SCENARIOS["start"]) as trial:
            counted = set(trial.changes)
        trial.fresh()
        traces = Path(folder) / "traces"
        traces.mkdir()
        calls = ",".join([*_CALLS, "execve", "clone", "clone3", "fork", "vfork"])
        watch = ["strace", "-ff", "-y", "-s", "200", "-o", str(traces / "of"), "-e", f"trace={calls}"]
        command = [sys.executable, "-m", "agentforge", *trial.scenario.command(trial.world)]
        subprocess.run([*watch, *command], cwd=trial.world.repo, env=trial.world.env, check=True, capture_output=True)
        place = f"{trial.world.repo.parent}/"
        seen = {change for path in _ours(traces) for change in _changes(path.read_text("utf-8", "replace"), place)}
    for change in sorted(seen - counted):
        sys.stdout.write(f"not counted: {change}\n")
    sys.stdout.write(f"{len(seen)} kinds of changes by strace, {len(seen & counted)} of them counted\n")
    return 1 if seen - counted else 0


def _ours(traces: Path) -> Iterator[Path]:
    """The traces of the program's threads and of its git; not of what it runs in a sandbox."""
    text = {path.suffix.removeprefix("."): path.read_text("utf-8", "replace") for path in traces.iterdir()}
    waiting = [number for number, content in text.items() if _FIRST in content.partition("\n")[0]]
    while waiting:
        number = waiting.pop()
        content = text.get(number, "")
        if any(_BOXED.match(line) for line in content.splitlines()):
            continue
        waiting += _STARTED.findall(content)
        if _OURS.search(content) or not _OTHER.search(content):
            yield traces / f"of.{number}"


def _changes(text: str, place: str) -> Iterator[str]:
    for call, arguments, _ in _LINE.findall(text):
        open_file = re.match(rf"\d+<{re.escape(place)}([^>]*)>", arguments)  # what is written may hold a path, too
        paths = [open_file[1]] if open_file else re.findall(rf'"{re.escape(place)}([^"]*)"', arguments)
        if call in _CALLS and paths and (open_file or _CALLS[call] not in ("write", "sync")):
            yield named(f"{_CALLS[call]} {paths[-1]}")


if __name__ == "__main__":
    sys.exit(main())
