"""What the dashboard costs with 10,000 tasks and with a trail of 100,000 records: `python -m bench.dashboard [--quick]`.

The real server runs over repositories that are made for it. Measured are the CPU seconds of the server for each page, and its
memory. A limit is what the page is meant to stay below on an idle machine; nothing is judged here.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from agentforge.dashboard.ground import Repository
from bench.scenes import environment
from bench.trail import make_repository, many_tasks, write_run

_LONG, _SHORT = (10_000, 100_000), (300, 5_000)
_RUN = "task-20260101-long"


class Server:
    """The dashboard over a repository, in a process of its own."""

    def __init__(self, repository: Path, home: Path) -> None:
        command = [sys.executable, "-m", "agentforge", "dashboard", "--cwd", str(repository)]
        env = {**environment(home), "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = re.search(r"http://([^/]+)/#token=(\S+)", self._process.stdout.readline())
        if found is None:
            raise RuntimeError("the dashboard did not start")
        self._place, self._token = found[1], found[2]
        self.base = f"/t/{Repository(name='', path=repository.resolve()).key}"

    def ask(self, path: str) -> str:
        """Ask for a page.

        Raises:
            RuntimeError: it is not there.
        """
        host, _, port = self._place.partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=300)
        connection.request("GET", path, headers={"authorization": f"Bearer {self._token}"})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}")
        return body

    def cpu_s(self, path: str) -> float:
        """CPU seconds of the server for a page."""
        before = self._used()
        self.ask(path)
        return self._used() - before

    def memory_mib(self) -> float:
        """Its memory now."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def close(self) -> None:
        """Stop it as Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=30)

    def _used(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rows_of_tasks(folder: Path, *, tasks: int) -> list[tuple[str, str, float]]:
    """The list of many tasks: when it is seen first, again, and after one of them changed."""
    first = folder / "one" / ".agentforge" / "tasks" / "task-20260101-first"
    write_run(first, folder / "one", records=30)
    _with_views(first)
    repository = many_tasks(folder / "many", first, tasks=tasks)
    last = repository / ".agentforge" / "tasks" / "task-20260101-number-0" / "lease"

    def measured(server: Server) -> list[tuple[str, str, float]]:
        cold = server.cpu_s("/")
        warm = min(server.cpu_s("/?page=2") for _ in range(5))
        changed = []
        for number in range(5):
            last.write_text("{}" + " " * number)
            changed.append(server.cpu_s("/"))
        return [
            (f"{tasks} tasks listed for the first time, CPU s", "", cold),
            ("  listed again", "0.2", warm),
            ("  listed after one changed", "0.2", min(changed)),
            ("  searched", "0.2", min(server.cpu_s("/?q=nothing+has+this") for _ in range(3))),
            ("  page of metrics", "", server.cpu_s("/measures")),
            ("  memory, MiB", "", server.memory_mib()),
        ]

    return _served(repository, folder / "home-of-many", measured)


def rows_of_trail(folder: Path, *, records: int) -> list[tuple[str, str, float]]:
    """Pages of one long trail."""
    repository = make_repository(folder / "long")
    run = repository / ".agentforge" / "tasks" / _RUN
    write_run(run, repository, records=records)
    _with_views(run)

    def measured(server: Server) -> list[tuple[str, str, float]]:
        trail, empty = f"{server.base}/{_RUN}/trail", server.memory_mib()
        first = server.cpu_s(trail)
        return [
            (f"trail of {records} records, first page ever, CPU s", "", first),
            ("  another page", "0.2", min(server.cpu_s(f"{trail}?page={number}") for number in (2, 30, 9, 40))),
            ("  one kind of record", "0.2", min(server.cpu_s(f"{trail}?kind=ToolFinished&page=3") for _ in range(3))),
            ("  one step", "0.2", min(server.cpu_s(f"{trail}?step=77") for _ in range(3))),
            ("  words in all records", "", server.cpu_s(f"{trail}?q=nothing+has+this")),
            ("  its first page (overview)", "", min(server.cpu_s(f"{server.base}/{_RUN}") for _ in range(3))),
            ("  memory beyond that of an empty server, MiB", "", server.memory_mib() - empty),
            ("  size of the log, MiB", "", (run / "events.jsonl").stat().st_size / 2**20),
        ]

    return _served(repository, folder / "home-of-long", measured)


def _with_views(run: Path) -> None:
    """Write the views and the snapshot of a run, as its own process leaves them."""
    from agentforge.store.views.projector import rebuild

    rebuild(run)


def _served(
    repository: Path, home: Path, measure: Callable[[Server], list[tuple[str, str, float]]]
) -> list[tuple[str, str, float]]:
    home.mkdir(parents=True, exist_ok=True)
    server = Server(repository, home)
    try:
        return measure(server)
    finally:
        server.close()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="Few tasks and a short trail: shows that everything works."
    )
    options = parser.parse_args()
    tasks, records = _SHORT if options.quick else _LONG
    with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as name:
        rows = rows_of_tasks(Path(name), tasks=tasks) + rows_of_trail(Path(name), records=records)
    print(f"| {'figure':<52} | limit | measured |\n|{'-' * 54}|-------|----------|")
    for figure, limit, value in rows:
        print(f"| {figure:<52} | {limit:>5} | {value:>8.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
