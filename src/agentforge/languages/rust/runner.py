"""Runs the unit and integration tests of a crate or workspace: cargo builds them, we run each program and read libtest's JSON."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.languages.language import RunOptions
from agentforge.languages.rust.failures import compile_error, panic
from agentforge.testing.launch import TestSandbox, borrowed, box
from agentforge.testing.outcome import CollectionError, Outcome, SuiteRun, TestOutcome, file_of
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import Gathered, Planted, Session, drawn_outcomes, judged, new_word, whole
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.toolchain import cargo_downloads

_OUTPUT_LIMIT_BYTES = 64_000_000
_PLANTED = "\n#[cfg(test)]\nmod {word} {{\n{tests}}}\n"
_FAILS = '    #[test]\n    fn {name}() {{ panic!("must fail") }}\n'
_PASSES = "    #[test]\n    fn {name}() {{}}\n"
_CHOSEN = frozenset({"--no-fail-fast", "--no-run", "--lib", "--bins", "--tests", "--all-targets"})
_OUTCOMES: dict[str, Outcome] = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
"""By the last event of a test; `timeout` only says that it has run for a minute."""
_EVENT = re.compile(r'\{ ?"type": ?"')  # within a text of JSON, quotes have a backslash before them

_TOO_OLD = "`--keep-going` flag is unstable"  # cargo before 1.74, such as Debian's
# libtest prints JSON only when unstable options are allowed; the variable is set for the test program alone, so that
# nothing is compiled in another way than the user compiles it.
_RUN = """cd "$1" || exit 3
program=$2 mark=$3
shift 3
"$program" --list --format terse < /dev/null 2>/dev/null
printf '\\n%s\\n' "$mark"
RUSTC_BOOTSTRAP=1 exec "$program" -Z unstable-options --format json "$@" < /dev/null
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What cargo makes one test program of: its root file, its package's folder, how to choose it alone; is it linked?"""

    root: str
    package: str
    harness: bool
    manifest: Mapping[str, str]
    choice: tuple[str, ...] = ()
    linked: bool = False


def run_cargo(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the unit and integration tests of a crate or workspace: always the whole suite; what was not asked for is left out.

    Side effects: planted tests stand at the end of every root file while it is compiled.
    """
    env = _environment(ground)
    (ground.checkout / "target").mkdir(exist_ok=True)  # cargo makes it for every build; tests write into it
    with borrowed(plan, ground):
        targets = _targets(plan, ground, env)
        word = new_word()
        drawn = drawn_outcomes()
        before = _plant(targets, ground.checkout, word, drawn)
        try:
            judging = ground.built is None and (not ask.tests or ask.seed is not None)  # no stub, no mutant
            plainly = judging and _is_used_by_nothing_else(targets)
            built = _build(plan, ground, env, ask.timeout_s, targets, plainly=plainly)
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
    for target in targets:
        if target.harness and target.root in programs:
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


def _targets(plan: TestPlan, ground: TestSandbox, env: Mapping[str, str]) -> list[_Target]:
    """What cargo would make test programs of.

    Raises:
        ToolchainError: cargo cannot read the manifest.
    """
    argv = [plan.command[0], "metadata", "--no-deps", "--offline", "--format-version", "1"]
    done = ground.sandbox.run(
        argv, box=box(plan, ground, env=env), timeout_s=120, output_limit_bytes=_OUTPUT_LIMIT_BYTES, merge_stderr=False
    )
    if done.exit_code != 0:
        raise ToolchainError(f"cargo metadata failed: {done.stderr.decode('utf-8', 'replace')[-400:]}")
    found: dict[str, _Target] = {}
    for package in json.loads(done.text)["packages"]:
        folder = posixpath.dirname(str(package["manifest_path"]))
        bare = _without_harness(ground.checkout / os.path.relpath(folder, ground.root) / "Cargo.toml")
        for target in package["targets"]:
            if target.get("test") and not {"bench", "example", "custom-build"} & set(target["kind"]):
                root = os.path.relpath(str(target["src_path"]), ground.root)
                manifest = {
                    "CARGO_MANIFEST_DIR": folder,
                    "CARGO_PKG_NAME": package["name"],
                    "CARGO_PKG_VERSION": package["version"],
                }
                found[root] = _Target(
                    root=root, package=folder, harness=target["name"] not in bare, manifest=manifest,
                    choice=("--package", str(package["name"]), *_choice(target)),
                    linked=bool({"cdylib", "dylib", "staticlib"} & set(target["kind"])),
                )  # fmt: skip
    return list(found.values())


def _choice(target: Mapping[str, Any]) -> tuple[str, ...]:
    """The options by which cargo builds this target alone."""
    kind = next((one for one in ("bin", "test") if one in target["kind"]), "")
    return (f"--{kind}", str(target["name"])) if kind else ("--lib",)


def _without_harness(manifest: Path) -> frozenset[str]:
    """Names of the targets that bring their own main function instead of libtest's."""
    value = tomllib.loads(manifest.read_text("utf-8", "replace"))
    rows = [row for kind in ("test", "bin") for row in value.get(kind, ())] + [value.get("lib", {})]
    return frozenset(str(row.get("name", "")) for row in rows if row.get("harness") is False)


def _plant(targets: Sequence[_Target], checkout: Path, word: str, drawn: Mapping[str, Outcome]) -> dict[str, bytes]:
    """Append the planted tests to every root file; returns what the files were before."""
    before = {one.root: (checkout / one.root).read_bytes() for one in targets if one.harness}
    bodies = [(_PASSES if outcome == "passed" else _FAILS).format(name=name) for name, outcome in drawn.items()]
    planted = _PLANTED.format(word=word, tests="".join(bodies)).encode()
    for path, data in before.items():
        (checkout / path).write_bytes(data + planted)
    return before


def _is_used_by_nothing_else(targets: Sequence[_Target]) -> bool:
    """Whether a library is built for its own tests alone, and nothing shows that users can build it; linking may need more."""
    packages = [one.choice[:2] for one in targets]
    return not any(one.linked for one in targets) and any(
        one.choice[2:] == ("--lib",) and packages.count(one.choice[:2]) == 1 for one in targets
    )


def _build(
    plan: TestPlan,
    ground: TestSandbox,
    env: Mapping[str, str],
    timeout_s: float,
    targets: Sequence[_Target],
    *,
    plainly: bool,
) -> Completed:
    """Build what `cargo test` would run, and libraries `plainly`, as users have them; what does not compile stays alone."""
    given = list(plan.command[2:])
    kept = [word for word in given[: given.index("--") if "--" in given else len(given)] if word not in _CHOSEN]

    def build(*words: str) -> Completed:
        argv = [plan.command[0], *words, "--message-format=json", *kept]
        space = box(plan, ground, env=env)
        if ground.built is not None:
            space = replace(space, writable_paths=(*space.writable_paths, ground.built))
        return ground.sandbox.run(argv, box=space, timeout_s=timeout_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES)

    words = ("build", "--profile=test", "--tests", *(("--lib",) if plainly else ()))
    done = build(*words, "--keep-going")
    if done.exit_code == 0 or _TOO_OLD not in done.text:
        return done
    done = build(*words)
    if done.exit_code == 0:
        return done
    alone = [("test", "--no-run", *one.choice) for one in targets]  # `build --lib` would make no test program
    return _joined([build(*one) for one in (*alone, *((("build", "--profile=test", "--lib"),) if plainly else ()))])


def _joined(parts: Sequence[Completed]) -> Completed:
    """Several builds as one."""
    return Completed(
        exit_code=max((one.exit_code for one in parts), default=0),
        output=b"\n".join(one.output for one in parts),
        omitted_bytes=sum(one.omitted_bytes for one in parts),
        timed_out=any(one.timed_out for one in parts),
        duration_s=sum(one.duration_s for one in parts),
    )


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
    targets: Sequence[_Target], programs: Mapping[str, str], errors: Sequence[CollectionError], tests: Sequence[str]
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
    targets: Sequence[_Target],
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
    target: _Target,
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
        argv, box=space, timeout_s=timeout_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES, merge_stderr=False
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


def _bare(done: Completed, target: _Target) -> Session:
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
