"""`make bench-peers`: the same work for AgentForge and other agents, against our own provider on loopback, in one run.

    python -m bench.peers [--quick] [--json | --markdown] [--only harness,llm,pi,codex] [--place DIR]

Every program is installed by name into a folder under --place (default: the user's cache). It gets a home of its own, a fresh
repository, and no way to the network. CPU is user + system of the program and of the children that it waited for; tokens are
those of o200k_base for all (counting.py). A program that is missing, or that has no such thing, says so in its column.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.conversation import Sent
from bench.counting import count, rule
from bench.dialects import Asked, Desk, Say, Script, open_desk
from bench.rivals import Rival, ours, rivals
from bench.scenes import MODULES, REQUEST, make_repository

DONE = "all-of-it-is-done"
_MARK = "function_3_7"
_PATIENCE_S = 180.0
_HANG_S = 240.0
_MOST_TOKENS = 20_000
_BIG_OUTPUT = "yes 0123456789 | head -c 52428800"
_FULL = {"starts": 5, "turns": 100}
_QUICK = {"starts": 1, "turns": 12}

Cell = float | str


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a program ended.

    Attributes:
        code: None = it was killed by us.
        cpu_s: of the program and the children that it waited for; rss_mib: the most memory of the program itself.
    """

    code: int | None
    cpu_s: float
    rss_mib: float
    said: str

    @property
    def done(self) -> bool:
        """It ended well and said the last word that it was told."""
        return self.code == 0 and DONE in self.said


class Match:
    """One program in its home and repository, at our desk."""

    def __init__(self, rival: Rival, desk: Desk, folder: Path) -> None:
        self._rival = rival
        self._desk = desk
        self._home = folder / "home"
        self.repository = make_repository(folder / "repository")
        rival.prepare(self._home, desk.url)

    def run(
        self, script: Script, *, again: bool = False, until: int = 0, seconds: float = _PATIENCE_S, after_s: float = 0.0
    ) -> Ended:
        """Let it work.

        Args:
            again: go on with the last session.
            until: kill it when this many requests have arrived; 0 = wait for its end.
        """
        self._desk.play(script)
        way = self._rival.again if again and self._rival.again else self._rival.ask
        log = self._home / "said"
        with log.open("wb") as sink:
            child = subprocess.Popen(
                way(self._home, REQUEST), env=self._rival.env(self._home, self._desk.url), cwd=self.repository,
                stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        most = 0.0
        if until:
            self._desk.wait(until, seconds=seconds)
            time.sleep(after_s)
            most = _most_mib(child.pid)
            os.killpg(child.pid, signal.SIGKILL)
        return _ended(child, log, seconds=seconds, most=most)


def _ended(child: subprocess.Popen[bytes], log: Path, *, seconds: float, most: float) -> Ended:
    end, pid, killed = time.monotonic() + seconds, 0, False
    while True:
        most = max(most, _most_mib(child.pid))
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end and not killed:
            os.killpg(child.pid, signal.SIGKILL)
            killed = True
        time.sleep(0.02)
    code = child.returncode = os.waitstatus_to_exitcode(status)
    with_children = usage.ru_utime + usage.ru_stime
    said = log.read_text(errors="replace")
    return Ended(code=None if code == -9 else code, cpu_s=with_children, rss_mib=most, said=said)


def _most_mib(pid: int) -> float:
    """The most memory that a living process had; what getrusage says counts ours from before the program was loaded."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


# -- the work


def start(match: Match, desk: Desk, *, runs: int) -> dict[str, Cell]:
    """From the command line to the first request."""
    ends, tokens = [], 0
    for _ in range(runs):
        ends.append(match.run(lambda _asked: Say(text=DONE), until=1))
        if not desk.asked:
            return {"start to first request, CPU s": f"asked nothing: {ends[-1].said.strip()[-60:]}"}
        tokens = count(desk.asked[0].text)
    return {
        "start to first request, CPU s": statistics.median(one.cpu_s for one in ends),
        "  memory then, MiB": statistics.median(one.rss_mib for one in ends),
        "  first prompt, tokens": float(tokens),
    }


def turns(match: Match, *, count: int, heavy: bool) -> dict[str, Cell]:
    """Turns that read a file (heavy: and print 300 lines), to the end."""
    sent, number = Sent(), 0

    def script(asked: Asked) -> Say:
        nonlocal number
        sent.take_text(asked.text)
        if not asked.tools:  # a summary is asked for
            return Say(text="The modules add numbers; go on with the next one.")
        number += 1
        if number > count:
            return Say(text=DONE)
        file = f"src/mod_{number % MODULES:02d}.py"
        calls = [asked.read(file, limit=200 if heavy else 60)]
        if heavy:
            first = number * 1000
            calls.append(asked.run(f"for i in $(seq {first} {first + 299}); do echo line $i of the output; done"))
        return Say(text=f"Step {number}: I look at the next module.", calls=tuple(calls))

    ended = match.run(script, seconds=20 * 60)
    label = f"{count} turns"
    return {
        f"{label}, finished": "yes" if ended.done else f"no: {min(number, count)} turns, exit code {ended.code}",
        "  CPU a turn, ms": 1000 * ended.cpu_s / max(1, min(number, count)),
        "  most memory, MiB": ended.rss_mib,
        "  prompt tokens, thousand": sent.raw / 1e3,
        "  cached ones at a tenth, thousand": sent.weighted / 1e3,
        "  largest request, tokens": float(sent.most),
    }


Verdict = tuple[bool, str]


def robust(match: Match, desk: Desk) -> dict[str, Verdict]:
    """Eight things that happen to every agent one day."""
    scenes: dict[str, Callable[[Match, Desk], Verdict]] = {
        "429, then well": lambda one, _: _recovers(one, Say(status=429)),
        "500, then well": lambda one, _: _recovers(one, Say(status=500)),
        "a stream that is cut": lambda one, _: _recovers(one, Say(text="I begin to", cut=True)),
        "broken tool arguments": _broken_arguments,
        "an unknown tool": lambda one, _: _goes_on(one, lambda _asked: ("no_such_tool", "{}")),
        "a command that never ends": _hang,
        "50 MB of output": _big_output,
        "kill -9 and resume": _killed,
    }
    return {name: scene(match, desk) for name, scene in scenes.items()}


def _recovers(match: Match, first: Say) -> Verdict:
    ended = match.run(lambda asked: first if asked.number == 1 else Say(text=DONE))
    return ended.done, "" if ended.done else f"exit code {ended.code}"


def _goes_on(match: Match, call: Callable[[Asked], tuple[str, str] | None]) -> Verdict:
    def script(asked: Asked) -> Say:
        return Say(text="I try.", calls=(call(asked),)) if asked.number == 1 else Say(text=DONE)

    ended = match.run(script)
    return ended.done, "" if ended.done else f"exit code {ended.code}"


def _broken_arguments(match: Match, _desk: Desk) -> Verdict:
    def broken(asked: Asked) -> tuple[str, str] | None:
        call = asked.run("touch PWNED")
        return None if call is None else (call[0], call[1][:-2])

    went_on, told = _goes_on(match, broken)
    if (match.repository / "PWNED").exists():
        (match.repository / "PWNED").unlink()
        return False, "carried out on guessed arguments"
    return went_on, told


def _hang(match: Match, desk: Desk) -> Verdict:
    began = time.monotonic()

    def script(asked: Asked) -> Say:
        return Say(text="I wait.", calls=(asked.run("sleep 100000"),)) if asked.number == 1 else Say(text=DONE)

    match.run(script, until=2, seconds=_HANG_S)
    took = time.monotonic() - began
    bounded = len(desk.asked) > 1
    return bounded, f"after {took:.0f} s" if bounded else f"not within {_HANG_S:.0f} s"


def _big_output(match: Match, desk: Desk) -> Verdict:
    def script(asked: Asked) -> Say:
        return Say(text="I print.", calls=(asked.run(_BIG_OUTPUT),)) if asked.number == 1 else Say(text=DONE)

    ended = match.run(script)
    if len(desk.asked) < 2:
        return False, f"exit code {ended.code}"
    grown = count(desk.asked[1].text) - count(desk.asked[0].text)
    return ended.done and grown <= _MOST_TOKENS, f"{grown:,} tokens, {ended.rss_mib:.0f} MiB"


def _killed(match: Match, desk: Desk) -> Verdict:
    def script(asked: Asked) -> Say:
        if asked.number == 1:
            return Say(text="I read.", calls=(asked.read("src/mod_03.py", limit=60),))
        return Say(text="I wait.", calls=(asked.run("sleep 20"),))

    match.run(script, until=2, after_s=1.0)
    if match._rival.again is None:
        return False, "has no way to resume"
    ended = match.run(lambda _asked: Say(text=DONE), again=True)
    if not desk.asked:
        return False, f"asked nothing, exit code {ended.code}"
    kept = _MARK in desk.asked[0].text
    return kept and ended.done, "" if kept else "does not know what it had read"


# -- the table


def measured(rival: Rival, desk: Desk, folder: Path, *, starts: int, turns_: int, robustness: bool) -> dict[str, Cell]:
    """The column of one program."""
    if rival.missing:
        return {"missing": rival.missing}
    match = Match(rival, desk, folder)
    cells = start(match, desk, runs=starts)
    cells |= {f"5 turns: {name.strip()}": cell for name, cell in turns(match, count=5, heavy=False).items()}
    cells |= turns(match, count=turns_, heavy=True)
    if robustness:
        verdicts = robust(match, desk)
        cells |= {name: f"{'ok' if ok else 'NO'} {told}".strip() for name, (ok, told) in verdicts.items()}
        cells["robustness, of 8"] = float(sum(ok for ok, _ in verdicts.values()))
    return cells


def table(columns: dict[str, dict[str, Cell]], *, markdown: bool) -> str:
    """Rows of figures, each with how many times ours it is."""
    mine = next(iter(columns))
    names = list(dict.fromkeys(name for cells in columns.values() for name in cells))
    rows = [["figure", *columns]]
    for name in names:
        base = columns[mine].get(name)
        rows.append(
            [name, *(_shown(cells.get(name), base if column != mine else None) for column, cells in columns.items())]
        )
    if markdown:
        rows.insert(1, ["---"] * len(rows[0]))
        return "".join("| " + " | ".join(cell.replace("  ", "&nbsp;&nbsp;") for cell in row) + " |\n" for row in rows)
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows
    )


def _shown(cell: Cell | None, base: Cell | None) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    text = f"{cell:,.0f}" if cell >= 100 else f"{cell:.1f}" if cell >= 2 else f"{cell:.3f}".rstrip("0").rstrip(".")
    if isinstance(base, float) and base > 0 and cell > 0:
        return f"{text} (x{cell / base:.1f})"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="One start, 12 turns, no robustness: shows that it works.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--markdown", action="store_true", help="Print a table for docs/peers.md.")
    parser.add_argument(
        "--no-robustness", action="store_true", help="Leave the eight mishaps out: they take half an hour."
    )
    parser.add_argument("--only", default="harness,llm,pi,codex", help="These peers, by comma; empty = none.")
    parser.add_argument("--place", type=Path, default=cache(), help="Where they are installed.")
    options = parser.parse_args(arguments)
    names = [name for name in options.only.split(",") if name]
    size = _QUICK if options.quick else _FULL
    columns: dict[str, dict[str, Cell]] = {}
    sys.stderr.write(f"tokens are counted by {rule()}\n")
    with open_desk() as desk, tempfile.TemporaryDirectory(prefix="agentforge-peers-") as folder:
        for rival in [ours(), *([] if options.quick else [ours("--bare")]), *rivals(options.place, names)]:
            sys.stderr.write(f"measuring {rival.name} {rival.version} ...\n")
            place = Path(folder) / rival.name.replace(" ", "")
            place.mkdir()
            title = f"{rival.name} {rival.version}".strip()
            (place / "home").mkdir()
            columns[title] = measured(
                rival,
                desk,
                place,
                starts=size["starts"],
                turns_=size["turns"],
                robustness=not (options.quick or options.no_robustness),
            )
    sys.stdout.write(
        json.dumps(columns, indent=1) + "\n" if options.json else table(columns, markdown=options.markdown)
    )
    return 0


def cache() -> Path:
    """Where the programs are installed if nothing else is said."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-bench" / "peers"


if __name__ == "__main__":
    sys.exit(main())
