"""`make bench`: the cost of starting, of a step and of memory, beside bare Python, a stdlib loop and agentforge-harness.

    python -m bench.run [--quick] [--json] [--no-peer]

All CPU figures are user + system time as the kernel counts it; nothing depends on the clock on the wall.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from bench.conversation import WINDOWS, conversation_rows
from bench.figures import Bench, Program, bare, headless, ours, peer, stdlib_loop
from bench.floor import over_bare_ms
from bench.policy import policy_rows
from bench.screen import screen_rows
from bench.trail import trail_rows

_PEER = "agentforge-harness==0.1.3"
_COLUMNS = ("AgentForge", "bare Python", "stdlib loop", "agentforge-harness 0.1.3")
_LONG = {"records": 100_000, "tasks": 1000}
_SHORT = {"records": 9_000, "tasks": 20}
_FULL = {"runs": 11, "read": 1000, "shell": 100, "http": 200, "peer": 100}
_QUICK = {"runs": 1, "read": 12, "shell": 3, "http": 8, "peer": 8}

Row = tuple[str, str, dict[str, float | str]]


def main() -> int:
    """Measure and print; figures are reported, never judged here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="One short run each: shows that everything works.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--no-peer", action="store_true", help="Leave agentforge-harness out.")
    options = parser.parse_args()
    other = None if options.no_peer else installed_peer()
    if not options.quick:
        compile_ahead()
    with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as folder:
        bench = Bench(Path(folder))
        try:
            rows = measured(bench, other, **(_QUICK if options.quick else _FULL))
            _tell("a long conversation", on=sys.stderr.isatty())
            _tell("a long trail, and many of them", on=sys.stderr.isatty())
            windows = () if options.quick else WINDOWS
            rows += conversation_rows(bench, other, steps=14 if options.quick else 100, windows=windows)
            _tell("the screen", on=sys.stderr.isatty())
            if find_spec("textual"):
                rows += screen_rows(Path(folder), runs=1 if options.quick else 5)
            rows += policy_rows()
            rows += trail_rows(Path(folder) / "trail", **(_SHORT if options.quick else _LONG))
        finally:
            bench.close()
    absent = "not measured" if options.no_peer else "not installed"
    sys.stdout.write(as_json(rows) if options.json else table(rows, absent="" if other else absent))
    return 0


def measured(
    bench: Bench, other: Program | None, *, runs: int, read: int, shell: int, http: int, peer: int
) -> list[Row]:
    """All rows of the table: (figure, limit, value by program)."""
    note = sys.stderr.isatty()
    programs = [ours(), stdlib_loop(), *([other] if other else [])]
    _tell("--version", on=note)
    asked_version = bench.versions_s((ours(), bare()), runs=5 * runs)
    if other:
        asked_version |= bench.versions_s((other,), runs=2)
    versions = {name: seconds * 1000 for name, seconds in asked_version.items()}
    _tell("first request", on=note)
    first = {one.name: bench.first_request(one, runs=runs) for one in programs}
    configured = {ours().name: bench.first_request(ours(), runs=runs, settings=True)}
    unattended = {ours().name: bench.first_request(headless(), runs=runs)}
    _tell("steps over HTTP", on=note)
    asked = {one.name: bench.http_steps(one, steps=peer if one is other else http) for one in programs}
    _tell("steps of the scripted model", on=note)
    reading, running = bench.scripted_steps("read", steps=read), bench.scripted_steps("shell", steps=shell)
    mine = ours().name

    def column(found: dict[str, dict[str, float]], name: str, factor: float = 1.0) -> dict[str, float | str]:
        return {program: values[name] * factor for program, values in found.items()}

    return [
        ("--version, CPU ms", "", dict(versions)),
        ("--version / bare Python", "1.3", {name: value / versions[bare().name] for name, value in versions.items()}),
        ("start to first request, CPU s", "0.15", column(first, "cpu_s")),
        ("  with a settings file", "0.15", column(configured, "cpu_s")),
        ("  `run` instead of `start`", "0.15", column(unattended, "cpu_s")),
        ("  children of the first (git, bwrap)", "", column(first, "children_s")),
        ("  memory then, MiB", "", column(first, "rss_mib")),
        ("  tokens of the request's body", "", column(first, "tokens")),
        ("step over HTTP, own CPU ms", "12", column(asked, "own_ms")),
        ("  children, CPU ms", "", column(asked, "children_ms")),
        (f"scripted step, read_file x {read}, own CPU ms", "12", {mine: reading["own_ms"]}),
        ("  children, CPU ms", "", {mine: reading["children_ms"]}),
        ("  last tenth / first tenth", "1.1", {mine: reading["growth"]}),
        ("  memory at a tenth, MiB", "60", {mine: reading["rss_begin_mib"]}),
        ("  memory at the end, MiB", "60", {mine: reading["rss_end_mib"]}),
        ("  prompt tokens, first steps", "", {mine: reading["prompt_first"]}),
        ("  prompt tokens, largest", "8000", {mine: reading["prompt_max"]}),
        (f"scripted step, shell x {shell}, own CPU ms", "12", {mine: running["own_ms"]}),
        ("  children, CPU ms", "", {mine: running["children_ms"]}),
        ("sandbox over the bare command, CPU ms", "6", {mine: over_bare_ms(runs=max(5, shell))}),
    ]


def table(rows: list[Row], *, absent: str) -> str:
    """The rows as text; `absent` stands in the peer's column when there is no peer."""
    lines = [["figure", "at most", *_COLUMNS]]
    for name, limit, values in rows:
        cells = [_shown(values.get(column)) for column in _COLUMNS]
        if absent:
            cells[-1] = absent
        lines.append([name, limit, *cells])
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    out = [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    out.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(out) + "\n"


def as_json(rows: list[Row]) -> str:
    """The rows for programs."""
    value = [
        {"figure": name.strip(), "at_most": float(limit) if limit else None, "values": values}
        for name, limit, values in rows
    ]
    return json.dumps(value, indent=1) + "\n"


def installed_peer() -> Program | None:
    """agentforge-harness in an environment of its own under the user's cache; None when the registry is out of reach."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-bench"
    folder = cache / _PEER.replace("==", "-")
    found = peer(folder)
    if not (folder / "ready").exists():
        python = str(folder / "bin" / "python")
        steps = ([sys.executable, "-m", "venv", "--clear", str(folder)], [python, "-m", "pip", "install", "-q", _PEER])
        for argv in steps:
            if subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                return None
        (folder / "ready").touch()
    return found


def compile_ahead() -> None:
    """Byte code for everything that is measured, so that no run pays for it."""
    here = Path(__file__).parent
    for folder in (here.parent / "src", Path(sys.prefix) / "lib", here):
        compileall.compile_dir(folder, quiet=2)


def _shown(value: float | str | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 2 else f"{value:.3f}"


def _tell(what: str, *, on: bool) -> None:
    if on:
        sys.stderr.write(f"measuring {what} ...\n")


if __name__ == "__main__":
    sys.exit(main())
