"""Runs Go tests: built in one box that runs no code of the project, then each package's tests in a box of their own.

The build cache lives in the first box only, so that nothing that a test does can reach what is built later.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.languages.go.failures import collection_errors, folders_of, test_failure
from agentforge.languages.language import RunningTime, RunOptions
from agentforge.testing.launch import TestSandbox, borrowed, box
from agentforge.testing.outcome import Outcome, SuiteRun, TestOutcome, file_of
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import Gathered, Planted, Session, drawn_outcomes, judged, new_word, whole
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.toolchain import go_downloads

_OUTPUT_LIMIT_BYTES = 64_000_000
_ROUNDS = 40  # a panic ends the whole package: what it kept from running is run again without it
_GRACE_S = 5.0  # the box ends what Go's own limit does not end, such as a test program that hangs before it runs a test
_KEEP = """#!/bin/sh
folder=$(mktemp -d "$AGENTFORGE_PROGRAMS/XXXXXXXX") && pwd > "$folder/folder" && cp "$1" "$folder/program"
"""
_RUN = """cd "$1" || exit 3
program=$2 mark=$3 tool=$4
shift 4
"$program" -test.list . < /dev/null 2>/dev/null
printf '\\n%s\\n' "$mark"
exec "$tool" -t "$program" "$@" < /dev/null
"""
_ENDED = re.compile(r"[^ \n] *--- (?P<action>PASS|FAIL|SKIP): (?P<name>\S+) \((?P<seconds>[\d.]+)s\)\n$")
"""A result behind what the test printed without a line break: before Go 1.20, test2json sees no result in it."""
_PLANTED = """package {name}

import "testing"

{tests}"""
_FAILS = 'func {name}(t *testing.T) {{ t.Error("must fail") }}\n'
_PASSES = "func {name}(t *testing.T) {{}}\n"
_OUTCOMES: dict[str, Outcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_FUNCTION = re.compile(rb"^func ((?:Test|Example|Fuzz)\w*)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Package:
    """One package with tests.

    Attributes:
        folder: relative to the repository, "" for its root.
        package: the name that its planted tests belong to.
        files: repository paths of its test files.
        names: test function -> its file.
        asked: test functions that run; () is all.
    """

    folder: str
    package: str
    files: tuple[str, ...]
    names: Mapping[str, str]
    asked: tuple[str, ...] = ()


def run_go(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the tests of all packages, or of the packages of the named tests; a seed orders the tests within a package.

    Side effects: every package has a file with two planted tests while it is built; it is gone before anything runs.
    """
    tests = ask.tests
    folders = folders_of(file_of(one) for one in tests)
    env = _environment(ground)
    with borrowed(plan, ground):
        packages, module, version = _packages(plan, ground, env, folders)
        if not packages:
            return SuiteRun(problems=("no package of Go was found",), runner=plan.runner)
        word = new_word().capitalize()
        drawn = {f"Test{word}{letter.upper()}": outcome for letter, outcome in drawn_outcomes().items()}
        planted = _plant(packages, ground.checkout, word, drawn)
        try:
            built, programs = _build(plan, ground, env, packages, ask.timeout_s)
        finally:
            for path in planted:
                (ground.checkout / path).unlink(missing_ok=True)
        known = {one.folder: one.files for one in packages}
        errors, broken = collection_errors(built.text, root=str(ground.root), module=module, packages=known)
        alive = [_asked(one, tests) for one in packages if one.folder in programs]
        sessions = _run_all(plan, ground, alive, programs, word=word, version=version, ask=ask)
    expected: dict[str, Outcome] = {}
    for path in planted:
        if posixpath.dirname(path) in programs:
            expected |= {f"{path}::{name}": outcome for name, outcome in drawn.items()}
    lost = [one.folder or "." for one in packages if one.folder not in programs and one.folder not in broken]
    problems = [f"{', '.join(lost[:3])} could not be built: {built.text[-300:]}"] if lost else []
    gathered = Gathered(
        outcomes=[one for session in sessions for one in session.outcomes],
        errors=errors,
        problems=[*problems, *(one for session in sessions for one in session.problems)],
        listed=[one for session in sessions for one in session.listed],
        runner=version,
    )
    return judged(
        gathered,
        whole(built, sessions, took=max),
        plan=plan,
        planted=Planted(word=word, expected=expected),
        tests=tests,
    )


def _environment(ground: TestSandbox) -> dict[str, str]:
    """Offline, with the modules that the user has downloaded."""
    mode = (
        {}
        if (ground.checkout / "vendor").is_dir()
        else {"GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -mod=mod".strip()}
    )
    return {**go_downloads(os.environ), **mode}


def _cache() -> Path:
    """Our own build cache, apart from the user's: only the compiler writes it."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or Path.home()) / ".cache")
    folder = home / "agentforge" / "go-build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _flags(plan: TestPlan) -> list[str]:
    """The project's own flags for building (`-tags x`, `-race`), without patterns and what we set."""
    kept: list[str] = []
    words = iter(plan.command[2:])
    for word in words:
        if word in ("-tags", "-mod", "-ldflags", "-gcflags"):
            kept += [word, next(words, "")]
        elif word.startswith(("-tags=", "-mod=", "-ldflags=", "-gcflags=", "-vet=")) or word == "-race":
            kept.append(word)
    return kept


def _patterns(plan: TestPlan, folders: Sequence[str]) -> list[str]:
    named = [word for word in plan.command[2:] if word.startswith((".", "/"))]
    return [f"./{one}" for one in folders] if folders else named or ["./..."]


def _packages(
    plan: TestPlan, ground: TestSandbox, env: Mapping[str, str], folders: Sequence[str]
) -> tuple[list[_Package], str, str]:
    """The packages with tests, the module's path, and Go's version."""
    argv = ["go", "list", "-e", "-json", *_flags(plan), *_patterns(plan, folders)]
    done = ground.sandbox.run(
        argv, box=box(plan, ground, env={**env, "GOCACHE": str(ground.scratch / "list")}), timeout_s=120,
        output_limit_bytes=_OUTPUT_LIMIT_BYTES, merge_stderr=False,
    )  # fmt: skip
    found, module, lost = [], "", list[str]()
    for value in _objects(done.text):
        module = module or str(value.get("Module", {}).get("Path", ""))
        if not value.get("Dir"):  # a folder with a module of its own is no package of this one
            lost.append(str(value.get("Error", {}).get("Err", "")))
            continue
        folder = os.path.relpath(str(value["Dir"]), ground.root)
        folder = "" if folder == "." else folder
        outer = value.get("XTestGoFiles") or ()
        paths = tuple(posixpath.join(folder, str(name)) for name in [*(value.get("TestGoFiles") or ()), *outer])
        name = f"{value.get('Name', '')}{'_test' if outer else ''}"  # the tests of an outer package run last
        if name and not folder.startswith(".."):
            found.append(_Package(folder=folder, package=name, files=paths, names=_names(ground.checkout, paths)))
    if not found and (done.exit_code != 0 or lost):
        said = "; ".join(filter(None, lost)) or (done.stderr or done.output).decode("utf-8", "replace")
        raise ToolchainError(f"go list failed: {said[-400:]}")
    version = ground.sandbox.run(["go", "version"], box=box(plan, ground, env=env), timeout_s=30).text.split()
    tested = [one for one in found if one.files] or found[:1]  # without any test, one package holds the planted ones
    return tested, module, version[2] if len(version) > 2 else "go"


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects that stand one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        value, at = decoder.raw_decode(text, at)
        yield value


def _names(checkout: Path, paths: Sequence[str]) -> dict[str, str]:
    """Which file a test function stands in."""
    found: dict[str, str] = {}
    for path in paths:
        for name in _FUNCTION.findall((checkout / path).read_bytes()):
            found.setdefault(name.decode(), path)
    return found


def _plant(packages: Sequence[_Package], checkout: Path, word: str, drawn: Mapping[str, Outcome]) -> list[str]:
    """A file of planted tests for each package, the last of its files, so that its tests come last."""
    planted = []
    bodies = [(_PASSES if outcome == "passed" else _FAILS).format(name=name) for name, outcome in drawn.items()]
    tests = "\n".join(bodies)
    for package in packages:
        path = posixpath.join(package.folder, f"zzz_{word.lower()}_test.go")
        (checkout / path).write_text(_PLANTED.format(name=package.package, tests=tests), "utf-8")
        planted.append(path)
    return planted


def _build(
    plan: TestPlan, ground: TestSandbox, env: Mapping[str, str], packages: Sequence[_Package], timeout_s: float
) -> tuple[Completed, dict[str, Path]]:
    """Build every package's test program; nothing of the project runs here."""
    programs = ground.scratch / "programs"
    programs.mkdir()
    keep = ground.scratch / "keep.sh"
    keep.write_text(_KEEP, "utf-8")
    keep.chmod(0o700)
    cache = _cache()
    space = box(plan, ground, env={**env, "GOCACHE": str(cache), "AGENTFORGE_PROGRAMS": str(programs)})
    space = replace(space, writable_paths=(*space.writable_paths, cache))
    argv = ["go", "test", *_flags(plan), "-exec", str(keep), *(f"./{one.folder}" for one in packages)]
    done = ground.sandbox.run(argv, box=space, timeout_s=timeout_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES)
    found = {}
    for folder in programs.iterdir():
        place = os.path.relpath((folder / "folder").read_text("utf-8").strip(), ground.root)
        found["" if place == "." else place] = folder / "program"
    return done, found


def _asked(package: _Package, tests: Sequence[str]) -> _Package:
    """A package of which only the tests of the named files run; all of them when a folder is named, or nothing."""
    files = {file_of(one) for one in tests}
    if not files or not files & set(package.files) or any(not one.endswith(".go") for one in files):
        return package
    return replace(package, asked=tuple(name for name, file in package.names.items() if file in files))


def _run_all(
    plan: TestPlan,
    ground: TestSandbox,
    packages: Sequence[_Package],
    programs: Mapping[str, Path],
    *,
    word: str,
    version: str,
    ask: RunOptions,
) -> list[Session]:
    """Run the packages side by side, as go does."""
    framed = not re.match(
        r"go1\.(?:1\d|[0-9])(?:\D|$)", version
    )  # since 1.20 a result line starts with a mark of its own
    arguments = [f"-test.v{'=test2json' if framed else ''}", "-test.paniconexit0", "-test.count=1"]
    arguments += [] if ask.seed is None else [f"-test.shuffle={ask.seed}"]
    tool = ground.sandbox.run(
        ["go", "tool", "-n", "test2json"], box=box(plan, ground, env={}), timeout_s=30
    ).text.strip()

    def one(package: _Package) -> Session:
        return _run_package(
            plan, ground, package, programs[package.folder], arguments=arguments, tool=tool, word=word, time=ask.running
        )

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        return list(pool.map(one, packages))


def _run_package(
    plan: TestPlan,
    ground: TestSandbox,
    package: _Package,
    program: Path,
    *,
    arguments: Sequence[str],
    tool: str,
    word: str,
    time: RunningTime,
) -> Session:
    """Run one package's tests; again for those that a panic kept from running, as long as the time of all rounds lasts.

    Go's own limit comes first: it says which test does not end, and lets the others run in the next round.
    """
    mark = new_word()
    folder = str(ground.root / package.folder)
    outcomes: dict[str, TestOutcome] = {}
    listed: list[str] = []
    problems: tuple[str, ...] = ()
    chosen = ["-test.run", f"^(?:{'|'.join(package.asked)}|.*{word}.*)$"] if package.asked else []
    began_with_s = time.left_s
    for _ in range(_ROUNDS):
        limit_s = time.next_s
        limit = f"-test.timeout={int(limit_s * 1000)}ms"
        argv = ["sh", "-c", _RUN, "sh", folder, str(program), mark, tool, limit, *arguments, *chosen]
        done = ground.sandbox.run(
            argv, box=box(plan, ground, env={}, read_only=(ground.scratch / "programs",)), timeout_s=limit_s + _GRACE_S,
            output_limit_bytes=_OUTPUT_LIMIT_BYTES,
        )  # fmt: skip
        time.spend(done.duration_s)
        names, marked, events = done.text.partition(f"\n{mark}\n")
        known = [name for line in names.splitlines() if (name := _listed(line, package))]
        listed = listed or [name for name in known if not package.asked or name in package.asked or word in name]
        if done.omitted_bytes or not marked:
            problems = (
                "its tests printed too much to be read" if marked else "its test program could not list its tests",
            )
        found = _outcomes(events, package, listed, root=str(ground.root), word=word)
        new = {name: one for name, one in found.items() if name not in outcomes}
        outcomes |= new
        left = [name for name in listed if _id(package, name, word) not in outcomes]
        if not left or not new or done.timed_out or problems:
            break
        if time.is_over:
            done = replace(done, timed_out=True)
            break
        chosen = ["-test.run", f"^({'|'.join(left)})$"]
    ids = tuple(_id(package, name, word) for name in listed if word not in name)
    done = replace(done, duration_s=began_with_s - time.left_s)
    return Session(outcomes=tuple(outcomes.values()), listed=ids, completed=done, problems=problems)


def _listed(line: str, package: _Package) -> str:
    """The test that a line of the list names; what an `init` printed may stand before it. "" = none."""
    if re.fullmatch(r"(?:Test|Example|Fuzz)\w*", line):
        return line
    return max((name for name in package.names if line.endswith(name)), key=len, default="")


def _outcomes(text: str, package: _Package, listed: Sequence[str], *, root: str, word: str) -> dict[str, TestOutcome]:
    """Results by id; a name that the program did not list is a line that somebody printed."""
    printed: dict[str, list[str]] = {}
    found: dict[str, TestOutcome] = {}
    behind: dict[str, TestOutcome] = {}
    for event in _events(text):
        action, output = str(event.get("Action", "")), str(event.get("Output", ""))
        ended = _ENDED.search(output)
        name = ended["name"] if ended else str(event.get("Test", ""))
        if name.partition("/")[0] not in listed:
            continue
        if action == "output" and len(lines := printed.setdefault(name, [])) < 400:
            lines.append(output)
        outcome = _OUTCOMES.get(ended["action"].lower() if ended else action)
        if outcome is None:
            continue
        nodeid = _id(package, name, word)
        failure = None
        if outcome == "failed":
            said = "".join(printed.get(name, ()))
            failure = test_failure(said, root=root, folder=package.folder, test_file=file_of(nodeid))
        results = behind if ended else found
        if nodeid not in results or results[nodeid].outcome != "failed":
            duration = float(ended["seconds"] if ended else event.get("Elapsed", 0.0))
            results[nodeid] = TestOutcome(id=nodeid, outcome=outcome, duration_s=duration, failure=failure)
    return behind | found


def _events(text: str) -> Iterator[dict[str, Any]]:
    """The events of test2json, a line of JSON each; other lines are no events."""
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _id(package: _Package, name: str, word: str) -> str:
    """`folder/file_test.go::TestName[case]`: subtests are the cases of their test."""
    test, _, case = name.partition("/")
    ours = posixpath.join(package.folder, f"zzz_{word.lower()}_test.go")
    path = ours if word in test else package.names.get(test, package.files[0] if package.files else ours)
    return f"{path}::{test}[{case}]" if case else f"{path}::{test}"
