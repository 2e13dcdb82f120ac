"""The cost of trust: the verifier's CPU (ours and all children) beside the bare suite run, on real projects.

    python bench/verifier.py [--quick] [--json]

Three verdicts are measured, each in a fresh checkout as in a run: the base line, RED (one new test file, its stubs) and GREEN
(the whole suite once, the new tests in random orders). Mutants are no part of them and have a line of their own.
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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SDISTS = {"small": "inflection==0.5.1", "medium": "boltons==25.0.0"}
GENERATED = {"files": 50, "tests": 100}
FACTOR, ALLOWANCE_S, CACHED_MS = 2.5, 3.0, 50.0
_PRODUCT = (
    '"""Added."""\n\n\ndef joined(text: str) -> str:\n    """Join the words."""\n    return "-".join(text.split())\n'
)
_TEST = "def test_joined():\n    from agentforge_added import joined\n\n    assert joined('a b') == 'a-b'\n\n\ndef test_one():\n    from agentforge_added import joined\n\n    assert joined('ab') == 'ab'\n"
_SET_CHILD_SUBREAPER = 36
_GIT = ("-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "commit.gpgsign=false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One project: seconds of CPU."""

    name: str
    tests: int
    bare_s: float
    verdicts_s: Mapping[str, float]
    cached_ms: float
    mutants_s: float | None = None

    @property
    def limit_s(self) -> float:
        """What a verdict may cost."""
        return FACTOR * self.bare_s + ALLOWANCE_S


def main() -> int:
    """Measure and print; figures are reported, never judged here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="A generated suite of 40 tests only: shows that everything works."
    )
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args()
    adopt()
    rows: list[Row] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="agentforge-verifier-") as folder:
        root = Path(folder)
        python = Path(sys.executable) if options.quick else project_python()
        if not options.quick:
            for name, package in SDISTS.items():
                source = python and unpacked(package, root / name)
                if not source:
                    notes.append(f"{name}: {package} could not be downloaded; skipped")
                else:
                    rows.append(measured(f"{name} ({package})", source, python=python or Path(sys.executable)))
        size = {"files": 2, "tests": 20} if options.quick else GENERATED
        made = generated(root / "generated", **size)
        rows.append(
            measured(f"generated, {size['files'] * size['tests']} tests", made, python=python or Path(sys.executable))
        )
    sys.stdout.write(as_json(rows, notes) if options.json else table(rows, notes))
    return 0


def measured(name: str, repo: Path, *, python: Path) -> Row:
    """Measure one project."""
    from agentforge.runners.cache import ResultCache
    from agentforge.runners.detection import detect
    from agentforge.runners.measure import Promise, Suite, measure_baseline, measure_green, measure_red
    from agentforge.runners.rig import Rig
    from agentforge.workspace.git import Git
    from agentforge.workspace.sandbox import choose

    base = tree_of(repo)
    bare = min(bare_run(repo, python) for _ in range(2))
    plan = detect(repo, settings={"python": str(python)})
    scratch = Path(tempfile.mkdtemp(prefix="rig-", dir=repo.parent))
    rig = Rig(
        plan=plan, git=Git(repo), mount_at=repo, sandbox=choose("auto"), scratch=scratch, timeout_s=900.0,
        cache=ResultCache(scratch / "results"),
    )  # fmt: skip
    (repo / "tests").mkdir(exist_ok=True)
    (repo / "tests" / "test_agentforge_added.py").write_text(_TEST)
    red_tree = tree_of(repo)
    (repo / "agentforge_added.py").write_text(_PRODUCT)
    tree = tree_of(repo)
    symbol = {"name": "joined", "file": "agentforge_added.py", "kind": "function", "signature": "(text: str) -> str"}
    path = "tests/test_agentforge_added.py"
    declared = [{"path": path, "name": one, "kind": "target"} for one in ("test_joined", "test_one")]
    suite = Suite(tests=declared, symbols=[symbol])
    spent: dict[str, float] = {}
    (facts, evidence), spent["base line"] = timed(lambda: measure_baseline(rig, tree=base))

    def red_again() -> tuple[dict[str, Any], dict[str, Any]]:
        return measure_red(rig, suite, base_tree=base, red_tree=red_tree)

    (red, _), spent["RED"] = timed(red_again)
    promise = Promise(red=red, baseline=evidence, scope=("agentforge_added.py", path))

    def green() -> tuple[dict[str, Any], dict[str, Any]]:
        return measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=tree)

    (judged, _), spent["GREEN"] = timed(green)
    if not (facts["measured"] and red["right_reason"] and judged["all_tests_pass"] and judged["no_regressions"]):
        raise RuntimeError(
            f"{name}: {facts['problems']} {red['problems']} {judged['problems']} {judged['failing_text']}"
        )
    cached = max(timed(again)[1] for again in (green, red_again, lambda: measure_baseline(rig, tree=base)))
    return Row(name=name, tests=facts["tests"], bare_s=bare, verdicts_s=spent, cached_ms=cached * 1000)


def timed(measure: Callable[[], Any]) -> tuple[Any, float]:
    """What a measurement returns, and its CPU seconds: our own and those of its children."""
    before = cpu_s()
    value = measure()
    return value, cpu_s() - before


def adopt() -> None:
    """Become the parent of orphans: bubblewrap leaves before the box that it made has been waited for."""
    import ctypes

    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def cpu_s() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0)[0]:
            pass
    kinds = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in kinds)


def bare_run(repo: Path, python: Path) -> float:
    """CPU seconds of the suite as a person runs it."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(repo.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(repo),
    }
    before = cpu_s()
    argv = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(argv, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return cpu_s() - before


def generated(repo: Path, *, files: int, tests: int) -> Path:
    """A project of many small tests."""
    (repo / "tests").mkdir(parents=True)
    (repo / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    for number in range(files):
        body = "".join(f"def test_{one}():\n    assert add({one}, 1) == {one + 1}\n\n\n" for one in range(tests))
        (repo / "tests" / f"test_part_{number}.py").write_text(f"from calc import add\n\n\n{body}")
    return committed(repo)


def unpacked(package: str, target: Path) -> Path | None:
    """A source distribution from the package index, as a repository; None when it cannot be had."""
    cache = cache_folder() / "sdists"
    name = package.partition("==")[0]
    found = sorted(cache.glob(f"{name}-*.tar.gz"))
    if not found:
        cache.mkdir(parents=True, exist_ok=True)
        argv = [
            str(environment() / "bin" / "python"),
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary=:all:",
            package,
        ]
        if subprocess.run([*argv, "-d", str(cache)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            return None
        found = sorted(cache.glob(f"{name}-*.tar.gz"))
    with tarfile.open(found[0]) as archive:
        archive.extractall(target, filter="data")
    (folder,) = target.iterdir()
    return committed(folder)


def committed(repo: Path) -> Path:
    """Make a folder a repository with one commit."""
    for argv in (["init", "-q"], ["add", "-A"], [*_GIT, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *argv], cwd=repo, check=True)
    return repo


def tree_of(repo: Path) -> str:
    """The tree of everything that stands in a repository."""
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    return subprocess.run(["git", "write-tree"], cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


def project_python() -> Path | None:
    """A python with pytest and nothing else; None when the package index is out of reach."""
    folder = environment()
    if not (folder / "ready").exists():
        python = str(folder / "bin" / "python")
        steps = (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [python, "-m", "pip", "install", "-q", "pytest<9"],
        )
        for argv in steps:
            if subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                shutil.rmtree(folder, ignore_errors=True)
                return None
        (folder / "ready").touch()
    return folder / "bin" / "python"


def environment() -> Path:
    """Where the projects' python lies."""
    return cache_folder() / "verifier-python"


def cache_folder() -> Path:
    """What is downloaded once."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-bench"


def table(rows: list[Row], notes: list[str]) -> str:
    """The figures as text."""
    head = ["verifier, CPU s", "tests", "bare suite", "at most", *(rows[0].verdicts_s), "cached, ms", "mutants"]
    lines = [head]
    for row in rows:
        verdicts = [f"{value:.2f}" for value in row.verdicts_s.values()]
        mutants = "not measured" if row.mutants_s is None else f"{row.mutants_s:.2f}"
        lines.append(
            [
                row.name,
                str(row.tests),
                f"{row.bare_s:.2f}",
                f"{row.limit_s:.2f}",
                *verdicts,
                f"{row.cached_ms:.1f}",
                mutants,
            ]
        )
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


def as_json(rows: list[Row], notes: list[str]) -> str:
    """The figures for programs."""
    value = [
        {"project": row.name, "tests": row.tests, "bare_s": row.bare_s, "limit_s": row.limit_s, "verdicts_s": dict(row.verdicts_s),
         "cached_ms": row.cached_ms, "mutants_s": row.mutants_s}
        for row in rows
    ]  # fmt: skip
    return json.dumps({"rows": value, "notes": notes}, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
