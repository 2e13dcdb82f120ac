"""The cost of trust: everything that one run measures, beside the bare suite, on real projects.

    python -m bench.verifier [--quick] [--json] [--only jinja2] [--detail]

A whole run with a scripted model: base line, impact, RED with its stubs, GREEN with strength and mutants, REFACTOR, DELIVER.
CPU seconds are ours and those of all children. The second task on the same commit shows what is measured only once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.real_changes import GENERATED, PROJECTS, RealChange, replies

FACTOR, ALLOWANCE_S = 3.0, 10.0
MEASURED = ("baseline", "impact", "red", "green", "refactor", "deliver")
_FILES, _TESTS = 2, 20
_SET_CHILD_SUBREAPER = 36
_GIT = ("-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "commit.gpgsign=false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Seconds of something that was measured."""

    cpu_s: float
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One project.

    Attributes:
        bare: the suite as a person runs it.
        parts: what the first run measured, by name.
        again_cpu_s: all that a second task on the same commit measured.
        mutants: how many were run, of how many, and why no more.
    """

    name: str
    tests: int
    bare: Spent
    parts: Mapping[str, Spent]
    again_cpu_s: float
    outcome: str
    mutants: str
    processes: Sequence[tuple[str, float, float, str]] = field(default=())

    @property
    def total(self) -> Spent:
        """All that one run measured."""
        return Spent(
            cpu_s=sum(one.cpu_s for one in self.parts.values()), wall_s=sum(one.wall_s for one in self.parts.values())
        )

    @property
    def limit_s(self) -> float:
        """What it may cost, CPU seconds."""
        return FACTOR * self.bare.cpu_s + ALLOWANCE_S


def main() -> int:
    """Measure and print; figures are reported, never judged here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="A generated suite of 40 tests: shows that all works.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--only", default="", help="Names of projects, with commas.")
    parser.add_argument("--detail", action="store_true", help="Print every process that measured something, too.")
    options = parser.parse_args()
    adopt()
    rows: list[Row] = []
    notes: list[str] = []
    only = set(filter(None, options.only.split(",")))
    chosen = [one for one in PROJECTS if not only or one.name in only]
    with tempfile.TemporaryDirectory(prefix="agentforge-verifier-") as folder:
        for change in (GENERATED,) if options.quick else chosen:
            python = Path(sys.executable) if options.quick else project_python(change)
            repo = (
                generated(Path(folder, "generated")) if options.quick else unpacked(change, Path(folder, change.name))
            )
            if python is None or repo is None:
                notes.append(f"{change.name}: {change.package} could not be installed; skipped")
                continue
            rows.append(measured(change, repo, python=python))
            if options.detail:
                sys.stderr.write(detail(rows[-1]))
    sys.stdout.write(as_json(rows, notes) if options.json else table(rows, notes))
    return 0


def measured(change: RealChange, repo: Path, *, python: Path) -> Row:
    """Run one project twice, each time as a task of its own."""
    home = repo.with_name(f"{repo.name}-home")
    home.mkdir()
    options = json.dumps(["-p", "no:cacheprovider", *change.leave_out])
    (repo / ".agentforge").mkdir()
    settings = f"[test]\npython = {json.dumps(str(python))}\n"
    if change.leave_out:
        settings += f"[test.env]\nPYTEST_ADDOPTS = {json.dumps(' '.join(change.leave_out))}\n"
    (repo / ".agentforge" / "config.toml").write_text(settings)
    (repo / ".gitignore").open("a").write("\n.agentforge/\n")
    committed(repo)
    bare = bare_run(repo, python, json.loads(options))
    script = home / "script.yaml"
    script.write_text(replies(change))
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(home), "AGENTFORGE_HOME": str(home / "af"), "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    first, processes, told = run(change.request, script, repo, environ)
    again, _, _ = run(change.request, script, repo, environ)
    mutation = told.get("green", {}).get("mutation", {})
    mutants = f"{mutation.get('run', 0)} of {mutation.get('run', 0) + mutation.get('not_run', 0)}"
    return Row(
        name=change.package, tests=int(told["baseline"]["tests"]), bare=bare, parts=first,
        again_cpu_s=sum(one.cpu_s for one in again.values()), outcome=told["outcome"],
        mutants=f"{mutants} {mutation.get('note', '')}".strip(), processes=processes,
    )  # fmt: skip


def run(
    request: str, script: Path, repo: Path, environ: Mapping[str, str]
) -> tuple[dict[str, Spent], list[tuple[str, float, float, str]], dict[str, Any]]:
    """One task from its request to its end, in this process, with what each measurement spent."""
    from agentforge.__main__ import main as agentforge
    from agentforge.pipeline.engine import controller
    from agentforge.workspace.processes import process

    spent: dict[str, Spent] = {}
    processes: list[tuple[str, float, float, str]] = []
    states: list[Any] = []
    begin, now = process.run, [""]

    def watched(measure: Callable[..., Any], name: Callable[[tuple[Any, ...]], str]) -> Callable[..., Any]:
        def wrapped(self: Any, state: Any, *args: Any, **named: Any) -> Any:
            now[0] = name(args)
            states.append(state)
            value, one = timed(lambda: measure(self, state, *args, **named))
            known = spent.get(now[0], Spent(cpu_s=0, wall_s=0))
            spent[now[0]] = Spent(cpu_s=known.cpu_s + one.cpu_s, wall_s=known.wall_s + one.wall_s)
            now[0] = ""
            return value

        return wrapped

    def noted(argv: Sequence[str], **named: Any) -> Any:
        value, one = timed(lambda: begin(argv, **named))
        if now[0] and one.wall_s > 0.05:
            data = named.get("stdin") or b""
            about = told_of(data) if b"coins" in data else " ".join(" ".join(argv[-3:]).split())[-80:]
            processes.append((now[0], one.cpu_s, one.wall_s, about))
        return value

    performer: Any = controller.Performer
    kept = {name: getattr(performer, name) for name in ("measured_base", "measured_impact", "measured")}

    performer.measured_base = watched(kept["measured_base"], lambda _: "baseline")
    performer.measured_impact = watched(kept["measured_impact"], lambda _: "impact")
    performer.measured = watched(kept["measured"], lambda args: args[0].name)
    process.run = noted
    argv, place, variables, out = sys.argv, Path.cwd(), dict(os.environ), sys.stdout
    try:
        os.chdir(repo)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = ["agentforge", "start", request, "--model", f"scripted/{script}", "--json"]
        with Path(script.with_name("out.json")).open("w") as sys.stdout, contextlib.suppress(SystemExit):
            agentforge()
    finally:
        sys.argv, sys.stdout = argv, out
        os.chdir(place)
        os.environ.clear()
        os.environ.update(variables)
        process.run = begin
        for name, one in kept.items():
            setattr(performer, name, one)
    told = json.loads(script.with_name("out.json").read_text())
    if told["outcome"] != "delivered":
        logs = [log.read_text().splitlines() for log in repo.glob(".agentforge/tasks/*/events.jsonl")]
        verdict = [line for log in logs for line in log if '"passed":false' in line][-1:]
        sys.stderr.write(f"{repo.name}: {told['outcome']} at {told.get('stage')}: {verdict}\n")
    return spent, processes, {**told, **dict(states[-1].work.facts)}


def told_of(data: bytes) -> str:
    """What our program in a child was asked to run."""
    asked = json.loads(data)
    what = [name for name in ("mutants", "trace", "seed") if asked.get(name) is not None]
    return f"{' '.join(what)} tests={len(asked['tests'])} {','.join(asked['paths'])[:60]}"


def timed(measure: Callable[[], Any]) -> tuple[Any, Spent]:
    """What a measurement returns, and its seconds: CPU of our own and of its children, and by the clock."""
    before, began = cpu_s(), time.monotonic()
    value = measure()
    return value, Spent(cpu_s=cpu_s() - before, wall_s=time.monotonic() - began)


def adopt() -> None:
    """Become the parent of orphans: bubblewrap leaves before the box that it made has been waited for."""
    import ctypes

    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def cpu_s() -> float:
    """CPU seconds of this process and of the children that it has waited for; boxes that were left to us are waited for here."""
    if threading.active_count() == 1:  # else the box may be another thread's own child
        for pid in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text() == "bwrap\n":
                    os.waitpid(int(pid), 0)
    kinds = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in kinds)


def bare_run(repo: Path, python: Path, options: Sequence[str]) -> Spent:
    """The suite as a person runs it."""
    env = {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "HOME": str(repo.parent),
        "PYTHONPATH": f"{repo}:{repo / 'src'}",
    }
    argv = [str(python), "-m", "pytest", "-q", *options]
    quiet = subprocess.DEVNULL
    return timed(lambda: subprocess.run(argv, cwd=repo, env=env, stdout=quiet, stderr=quiet, check=False))[1]


def generated(repo: Path) -> Path:
    """A project of many small tests."""
    (repo / "tests").mkdir(parents=True)
    (repo / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    for number in range(_FILES):
        body = "".join(f"def test_{one}():\n    assert add({one}, 1) == {one + 1}\n\n\n" for one in range(_TESTS))
        (repo / "tests" / f"test_part_{number}.py").write_text(f"from calc import add\n\n\n{body}")
    return committed(repo)


def unpacked(change: RealChange, target: Path) -> Path | None:
    """A source distribution from the package index, as a repository; None when it cannot be had."""
    cache = cache_folder() / "sdists"
    found = sorted(cache.glob(f"{change.package.replace('==', '-')}*.tar.gz"))
    if not found:
        cache.mkdir(parents=True, exist_ok=True)
        pip = [str(environment(change) / "bin" / "python"), "-m", "pip", "download", "-q", "--no-deps"]
        if not silent([*pip, "--no-binary=:all:", change.package, "-d", str(cache)]):
            return None
        found = sorted(cache.glob(f"{change.package.replace('==', '-')}*.tar.gz"))
    with tarfile.open(found[0]) as archive:
        archive.extractall(target, filter="data")
    (folder,) = target.iterdir()
    return committed(folder)


def committed(repo: Path) -> Path:
    """Commit everything that stands in a folder; it becomes a repository where it is none."""
    for argv in (["init", "-q"], ["add", "-A"], [*_GIT, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *argv], cwd=repo, check=True)
    return repo


def project_python(change: RealChange) -> Path | None:
    """A python with the project's dependencies and what its tests import; None when the package index is out of reach."""
    folder = environment(change)
    python = str(folder / "bin" / "python")
    if not (folder / "ready").exists():
        steps = (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [python, "-m", "pip", "install", "-q", change.package, *change.needs],
            [
                python,
                "-m",
                "pip",
                "uninstall",
                "-q",
                "-y",
                *({change.name} - {one.partition("<")[0] for one in change.needs}),
            ],
        )
        if not all(silent(argv) for argv in steps):
            shutil.rmtree(folder, ignore_errors=True)
            return None
        (folder / "ready").touch()
    return Path(python)


def silent(argv: Sequence[str]) -> bool:
    """Run a command whose output nobody needs; tell whether it worked."""
    return subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def environment(change: RealChange) -> Path:
    """Where the python of a project lies."""
    return cache_folder() / f"verifier-{change.package}"


def cache_folder() -> Path:
    """What is downloaded once."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-bench"


def table(rows: list[Row], notes: list[str]) -> str:
    """The figures as text: CPU seconds of everything that one run measures, the clock's in the last columns."""
    head = ["one run, CPU s", "tests", "bare", *MEASURED, "all", "at most", "next task", "bare, clock", "all, clock"]
    head += ["mutants", "end"]
    lines = [head]
    for row in rows:
        parts = [f"{row.parts[name].cpu_s:.1f}" if name in row.parts else "-" for name in MEASURED]
        lines.append(
            [
                row.name, str(row.tests), f"{row.bare.cpu_s:.1f}", *parts, f"{row.total.cpu_s:.1f}", f"{row.limit_s:.1f}",
                f"{row.again_cpu_s:.1f}", f"{row.bare.wall_s:.1f}", f"{row.total.wall_s:.1f}", row.mutants, row.outcome,
            ]
        )  # fmt: skip
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    out = [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    out.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*out, *notes]) + "\n"


def detail(row: Row) -> str:
    """Every process that measured something."""
    lines = [f"  {part:9} {cpu:7.2f} CPU {wall:7.2f} s  {about}" for part, cpu, wall, about in row.processes]
    return "\n".join([row.name, *lines]) + "\n"


def as_json(rows: list[Row], notes: list[str]) -> str:
    """The figures for programs."""
    value = [
        {
            "project": row.name, "tests": row.tests, "bare_s": row.bare.cpu_s, "limit_s": row.limit_s, "all_s": row.total.cpu_s,
            "measured_s": {name: one.cpu_s for name, one in row.parts.items()}, "next_task_s": row.again_cpu_s,
            "bare_clock_s": row.bare.wall_s, "all_clock_s": row.total.wall_s, "mutants": row.mutants, "outcome": row.outcome,
        }
        for row in rows
    ]  # fmt: skip
    return json.dumps({"rows": value, "notes": notes}, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
