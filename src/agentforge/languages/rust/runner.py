"""Runs the unit and integration tests of a crate or workspace: cargo builds them, we run each program and read libtest's JSON."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentforge.languages.language import RunOptions
from agentforge.languages.rust.build import (
    OUTPUT_LIMIT_BYTES,
    CargoTarget,
    build_tests,
    is_used_by_nothing_else,
    targets_of,
)
from agentforge.languages.rust.failures import compile_error, panic
from agentforge.testing.launch import TestSandbox, borrowed, box
from agentforge.testing.outcome import CollectionError, Outcome, SuiteRun, TestOutcome, file_of
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import Gathered, Planted, Session, drawn_outcomes, judged, new_word, whole
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.toolchain import cargo_downloads

_PLANTED = "\n#[cfg(test)]\nmod {word} {{\n{tests}}}\n"
_FAILS = '    #[test]\n    fn {name}() {{ panic!("must fail") }}\n'
_PASSES = "    #[test]\n    fn {name}() {{}}\n"
_OUTCOMES: dict[str, Outcome] = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
"""By the last event of a test; `timeout` only says that it has run for a minute."""
_CONDITION = re.compile(rb"^\s*#!\[cfg\(", re.MULTILINE)
_EVENT = re.compile(r'\{ ?"type": ?"')  # within a text of JSON, quotes have a backslash before them

# libtest prints JSON only when unstable options are allowed; the variable is set for the test program alone, so that
# nothing is compiled in another way than the user compiles it.
_RUN = """cd "$1" || exit 3
program=$2 mark=$3
shift 3
"$program" --list --format terse < /dev/null 2>/dev/null
printf '\\n%s\\n' "$mark"
RUSTC_BOOTSTRAP=1 exec "$program" -Z unstable-options --format json "$@" < /dev/null
"""


def run_cargo(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the unit and integration tests of a crate or workspace: always the whole suite; what was not asked for is left out.

    Side effects: planted tests stand at the end of every root file while it is compiled.
    """
    env = _environment(ground)
    (ground.checkout / "target").mkdir(exist_ok=True)  # cargo makes it for every build; tests write into it
    with borrowed(plan, ground):
        targets = targets_of(plan, ground, env)
        word = new_word()
        drawn = drawn_outcomes()
        before = _plant(targets, ground.checkout, word, drawn)
        try:
            judging = ground.built is None and (not ask.tests or ask.seed is not None)  # no stub, no mutant
            plainly = judging and is_used_by_nothing_else(targets)
            built = build_tests(plan, ground, env, ask.timeout_s, targets, plainly=plainly)
        finally:
            for path, data in before.items():
                (ground.checkout / path).write_bytes(data)
        records = list(_records(built.text))
        errors = _errors(records, ground)
        broken = {one.id for one in errors} if plainly else ()
        programs = {root: one for root, one in _programs(records, ground) if root not in broken}
        kept = [one for one in targets if one.root in programs]
        sessions = list(_sessions(plan, ground, kept, programs, word=word, ask=ask, env=env))
    expected: dict[str, Outcome] = {}
    for target, session in zip(kept, sessions, strict=True):
        if target.harness and not _is_compiled_away(before[target.root], session):
            expected |= {f"{target.root}::{word}::{name}": outcome for name, outcome in drawn.items()}
    problems = [problem for session in sessions for problem in session.problems]
    problems += _lost(targets, programs, errors, ask.tests)
    if not programs and not errors:
        problems.append(f"cargo could not build the tests: {built.text[-300:]}")
    gathered = Gathered(
        outcomes=[one for session in sessions for one in session.outcomes],
        errors=errors,
        problems=problems,
        listed=[one for session in sessions for one in session.listed],
        runner="cargo",
    )
    return judged(
        gathered,
        whole(built, sessions, took=sum),
        plan=plan,
        planted=Planted(word=word, expected=expected),
        tests=ask.tests,
    )


def _environment(ground: TestSandbox) -> dict[str, str]:
    return {"CARGO_TARGET_DIR": str(_target_folder(ground)), **cargo_downloads(os.environ)}


def _target_folder(ground: TestSandbox) -> Path:
    return ground.built or ground.scratch / "target"


def _plant(targets: Sequence[CargoTarget], checkout: Path, word: str, drawn: Mapping[str, Outcome]) -> dict[str, bytes]:
    """Append the planted tests to every root file; returns what the files were before."""
    before = {one.root: (checkout / one.root).read_bytes() for one in targets if one.harness}
    bodies = [(_PASSES if outcome == "passed" else _FAILS).format(name=name) for name, outcome in drawn.items()]
    planted = _PLANTED.format(word=word, tests="".join(bodies)).encode()
    for path, data in before.items():
        (checkout / path).write_bytes(data + planted)
    return before


def _is_compiled_away(source: bytes, session: Session) -> bool:
    """Whether `#![cfg(...)]` at its top leaves out all of a root file, and what we planted there."""
    return not session.listed and not session.outcomes and _CONDITION.search(source) is not None


def _records(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def _events(text: str) -> Iterator[dict[str, Any]]:
    """The events of libtest, wherever they begin in a line: what a test writes by itself may stand before one."""
    decoder = json.JSONDecoder()
    for found in _EVENT.finditer(text):
        try:
            value, _ = decoder.raw_decode(text, found.start())
        except ValueError:
            continue
        yield value


def _programs(records: Sequence[Mapping[str, Any]], ground: TestSandbox) -> Iterator[tuple[str, str]]:
    """Root file and test program, as cargo tells."""
    for record in records:
        if record.get("reason") == "compiler-artifact" and record.get("executable") and record["profile"]["test"]:
            yield os.path.relpath(str(record["target"]["src_path"]), ground.root), str(record["executable"])


def _errors(records: Sequence[Mapping[str, Any]], ground: TestSandbox) -> list[CollectionError]:
    """What does not compile, once for each file and message; a library is compiled twice."""
    found: dict[tuple[str, str], CollectionError] = {}
    for record in records:
        message = record.get("message")
        if (
            record.get("reason") != "compiler-message"
            or not isinstance(message, dict)
            or message.get("level") != "error"
        ):
            continue
        if message.get("spans"):
            file = os.path.relpath(str(record["target"]["src_path"]), ground.root)
            error = compile_error(message, file=file)
            found.setdefault((file, error.text), error)
    own = list(found.values())
    return own + [replace(error, id=path) for error in own for path in _test_modules(ground.checkout, error.id)]


def _test_modules(checkout: Path, root: str) -> list[str]:
    """The files with tests that are compiled into the test program of a root file: they are lost with it."""
    files = sorted({path for path in _modules(checkout, root).values() if path != root})
    return [path for path in files if "#[test]" in (checkout / path).read_text("utf-8", "replace")]


def _lost(
    targets: Sequence[CargoTarget], programs: Mapping[str, str], errors: Sequence[CollectionError], tests: Sequence[str]
) -> list[str]:
    """What does not compile and takes the asked files with it, which have no error of their own."""
    asked = {file_of(one) for one in tests}
    lost = {one.root for one in targets if one.root in asked and one.root not in programs}
    if not lost - {one.id for one in errors}:
        return []
    guilty = {one.failure.file if one.failure is not None else one.id for one in errors if one.id not in asked}
    return [f"{path} does not compile" for path in sorted(guilty)]


def _sessions(
    plan: TestPlan,
    ground: TestSandbox,
    targets: Sequence[CargoTarget],
    programs: Mapping[str, str],
    *,
    word: str,
    ask: RunOptions,
    env: Mapping[str, str],
) -> Iterator[Session]:
    """Run one program after the other, each for as long as a run may take; all in one limit where the tests have their own."""
    time = ask.running
    for target in targets:
        limit_s = time.next_s if time.in_parts else ask.timeout_s
        one = _run_program(
            plan, ground, target, programs[target.root], word=word, seed=ask.seed, timeout_s=limit_s, env=env
        )
        time.spend(one.completed.duration_s)
        yield one


def _run_program(
    plan: TestPlan,
    ground: TestSandbox,
    target: CargoTarget,
    program: str,
    *,
    word: str,
    seed: int | None,
    timeout_s: float,
    env: Mapping[str, str],
) -> Session:
    """Run a copy of a test program in a box where what was built cannot be changed; beside the copy it may write."""
    libraries = f"{posixpath.dirname(program)}:{_rust_libraries(env)}"
    program = shutil.copy2(program, tempfile.mkdtemp(prefix="program-", dir=ground.scratch))
    space = box(
        plan, ground, env={**env, **target.manifest, "LD_LIBRARY_PATH": libraries}, read_only=(_target_folder(ground),)
    )
    if not target.harness:
        return _bare(ground.sandbox.run([program], box=space, timeout_s=timeout_s), target)
    mark = new_word()
    shuffle = [] if seed is None else [f"--shuffle-seed={seed}"]
    argv = ["sh", "-c", _RUN, "sh", target.package, program, mark, *shuffle]
    done = ground.sandbox.run(
        argv, box=space, timeout_s=timeout_s, output_limit_bytes=OUTPUT_LIMIT_BYTES, merge_stderr=False
    )  # a note on standard error would stand in the middle of an event
    names, _, events = done.text.partition(f"\n{mark}\n")
    listed = [name.removesuffix(": test") for name in names.splitlines() if name.endswith(": test")]
    files = _modules(ground.checkout, target.root)
    outcomes = _outcomes(events, listed=listed, root=target.root, files=files)
    problems = ("its tests printed too much to be read",) if done.omitted_bytes else ()
    ids = tuple(_id(name, target.root, files) for name in listed if word not in name)
    return Session(outcomes=outcomes, listed=ids, completed=_with_notes(done), problems=problems)


def _with_notes(done: Completed) -> Completed:
    """The same with standard error behind the output, for people."""
    return replace(done, output=done.output + done.stderr)


def _outcomes(events: str, *, listed: Sequence[str], root: str, files: Mapping[str, str]) -> tuple[TestOutcome, ...]:
    """What libtest's events, a line of JSON each, say of the listed tests."""
    found = []
    for event in _events(events):
        name, outcome = str(event.get("name", "")), _OUTCOMES.get(str(event.get("event", "")))
        if event.get("type") != "test" or outcome is None or name not in listed:
            continue
        nodeid = _id(name, root, files)
        said = str(event.get("stdout") or event.get("message") or "")
        failure = panic(said, test_file=nodeid.partition("::")[0]) if outcome == "failed" else None
        seconds = float(event.get("exec_time", 0.0) or 0.0)
        found.append(TestOutcome(id=nodeid, outcome=outcome, duration_s=seconds, failure=failure))
    return tuple(found)


def _bare(done: Completed, target: CargoTarget) -> Session:
    """A program without libtest is one test: its exit code is all that it tells."""
    nodeid = f"{target.root}::main"
    failure = None if done.exit_code == 0 else panic(done.text, test_file=target.root)
    outcome = TestOutcome(id=nodeid, outcome="failed" if failure else "passed", failure=failure)
    return Session(outcomes=(outcome,), listed=(nodeid,), completed=done)


def _rust_libraries(env: Mapping[str, str]) -> str:
    """Where rustc's own libraries lie, for tests of compiler plug-ins."""
    found = sorted(Path(env["RUSTUP_HOME"]).glob("toolchains/*/lib"))
    return ":".join(str(path) for path in found[:4])


def _modules(checkout: Path, root: str) -> dict[str, str]:
    """Module path -> file, for the files below a root file: `src/a/b.rs` is `a::b`."""
    folder = posixpath.dirname(root)
    if posixpath.basename(root) not in ("lib.rs", "main.rs"):
        return {}
    found = {}
    for path in sorted((checkout / folder).rglob("*.rs")):
        relative = path.relative_to(checkout / folder).with_suffix("")
        parts = relative.parts[:-1] if relative.name == "mod" else relative.parts
        found["::".join(parts)] = str(path.relative_to(checkout))
    return found


def _id(name: str, root: str, files: Mapping[str, str]) -> str:
    """`file.rs::module::test`: the file is that of the longest module that the name begins with."""
    parts = name.split("::")
    for end in range(len(parts) - 1, 0, -1):
        file = files.get("::".join(parts[:end]))
        if file is not None:
            return f"{file}::{'::'.join(parts[end:])}"
    return f"{root}::{name}"
