"""Runs node:test, vitest, jest and mocha with our reporter, and plants a test that must fail beside the others."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.javascript.command import command_of, shuffles
from agentforge.languages.javascript.failures import compiler_failures, failure_of_error, failure_of_output, relative
from agentforge.languages.javascript.project import is_test
from agentforge.languages.language import RunOptions
from agentforge.testing.channel import Channel, Received
from agentforge.testing.launch import EVIDENCE, TestSandbox, borrowed, box
from agentforge.testing.outcome import MESSAGE_LIMIT, CollectionError, Failure, Outcome, SuiteRun, TestOutcome, file_of
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import Gathered, Planted, drawn_outcomes, judged, new_word

_REPORTERS = EVIDENCE / "javascript"
_SKIPPED = frozenset({"node_modules", ".git", "dist", "coverage"})
_MOST_BROKEN = 20
"""Files that cannot be loaded and are left out one after the other."""
_FAILS = 'test("{name}", () => {{ throw new Error("must fail"); }});\n'
_PASSES = 'test("{name}", () => {{}});\n'
_TESTS = {
    "node": 'import test from "node:test";\n{tests}',
    "vitest": 'import {{ test }} from "vitest";\n{tests}',
    "jest": "// @ts-nocheck\n{tests}",
    "mocha": "((test) => {{\n{tests}}})(globalThis.it ?? globalThis.test);\n",
}


def run_javascript(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the suite, or the files of the named tests; a seed orders them where the runner can (vitest, jest from 29.5).

    Side effects: a file with planted tests stands in the checkout while the tests run. Where the configuration keeps it out,
    the tests run a second time, with the planted ones beside a file that was run.
    """
    with borrowed(plan, ground):
        prepared = prepare(plan, ground, timeout_s=ask.timeout_s)
    sources = [one for one in dict.fromkeys(file_of(one) for one in ask.tests) if (ground.checkout / one).is_file()]
    if ask.tests and not sources and not any((ground.checkout / one).is_dir() for one in ask.tests):
        return SuiteRun(problems=("none of the named test files exists in the checkout",), runner=plan.runner)
    files = [prepared.built.get(one, one) for one in sources]
    ask = replace(
        ask, tests=[f"{prepared.built.get(file_of(one), file_of(one))}{one[len(file_of(one)) :]}" for one in ask.tests]
    )
    run = _run(plan, ground, files, ask)
    run = _without_broken(plan, ground, files, ask, run)
    heard = next(iter(run.outcomes), "") if run.canary == "absent" and not run.timed_out and not run.killed else ""
    if heard:
        run = _run(plan, ground, files, ask, beside=file_of(heard))
    return with_failed_build(named_by_source(run, prepared), prepared, root=str(ground.root))


def _without_broken(
    plan: TestPlan, ground: TestSandbox, files: Sequence[str], ask: RunOptions, run: SuiteRun
) -> SuiteRun:
    """Run again without the files that cannot be loaded: mocha gives up at the first one, the other runners go on."""
    errors: dict[str, list[CollectionError]] = {}
    for _ in range(_MOST_BROKEN):
        found = [one for one in run.collection_errors if one.id not in errors and (ground.checkout / one.id).is_file()]
        if plan.runner != "mocha" or run.outcomes or not found or run.timed_out:
            break
        for one in found:
            errors.setdefault(one.id, []).append(one)
        run = _run(plan, ground, [one for one in files if one not in errors], ask, broken=tuple(errors))
    known = [one for rows in errors.values() for one in rows]
    return replace(run, collection_errors=(*known, *(one for one in run.collection_errors if one.id not in errors)))


def _run(
    plan: TestPlan,
    ground: TestSandbox,
    files: Sequence[str],
    ask: RunOptions,
    *,
    beside: str = "",
    broken: Sequence[str] = (),
) -> SuiteRun:
    """One session of the runner.

    Args:
        beside: a test file of which the runner has told; "" = the place of the planted tests is guessed.
        broken: files that stay out; where no other one was asked for, the planted tests run alone.
    """
    word = new_word()
    drawn = {f"{word} {letter}": outcome for letter, outcome in drawn_outcomes().items()}
    place = _plant(plan, ground, word, beside or next(filter(is_test, files), ""), drawn)
    planted = Planted(word=word, expected={f"{place}::{name}": outcome for name, outcome in drawn.items()})
    order = ask.seed if shuffles(plan, ground) else None
    asked = [*files, place] if files or (broken and ask.tests) else []
    argv = command_of(plan, files=asked, canary=place, seed=order, checkout=ground.checkout)
    argv += [] if asked else [f"--ignore={one}" for one in broken]
    channel = Channel()
    setup = json.dumps({"descriptor": channel.descriptor, "key": channel.key.hex()}).encode()
    try:
        with borrowed(plan, ground):
            completed = ground.sandbox.run(
                argv,
                box=box(plan, ground, env={"CI": "1"}, read_only=(EVIDENCE,)),
                timeout_s=ask.timeout_s,
                stdin=setup,
                pass_fds=(channel.descriptor,),
            )
    finally:
        received = channel.close()
        (ground.checkout / place).unlink(missing_ok=True)
    gathered = _gathered(received, completed.text, root=str(ground.root), files=files)
    return judged(gathered, completed, plan=plan, planted=planted, tests=ask.tests)


def _plant(plan: TestPlan, ground: TestSandbox, word: str, like: str, drawn: Mapping[str, Outcome]) -> str:
    """Write the planted tests beside a test file, under a name of the same form; returns its path.

    Mocha is given the file by name, so it can lie outside of the checkout.
    """
    bodies = [(_PASSES if outcome == "passed" else _FAILS).format(name=name) for name, outcome in drawn.items()]
    text = _TESTS[plan.runner].format(tests="".join(bodies))
    if plan.runner == "mocha":
        (ground.scratch / f"{word}.cjs").write_text(text, "utf-8")
        return str(ground.scratch / f"{word}.cjs")
    checkout = ground.checkout
    like = like or _first_test(checkout) or "test/a.test.js"
    folder, name = PurePosixPath(like).parent, PurePosixPath(like).name
    own = _named_like(name, word)
    if plan.runner == "node":
        own = f"{own.rpartition('.')[0]}.mjs"
    path = str(folder / own)
    (checkout / folder).mkdir(parents=True, exist_ok=True)
    (checkout / path).write_text(text, "utf-8")
    return path


def _named_like(name: str, word: str) -> str:
    """A name of the same form, of which a pattern of test files takes the same part: `.test.ts`, `-test.js`, `test-`, `.js`."""
    stem, dot, rest = name.partition(".")
    if stem in ("test", "spec") and "." not in rest:
        return f"{word}.{name}"  # jest's `?(*.)+(spec|test).js`
    mark = next((mark for mark in ("-test", "_test") if stem.endswith(mark)), "")
    begins = (
        "" if mark or not stem.startswith("test") or "." in rest else "test_" if stem.startswith("test_") else "test-"
    )
    return f"{begins}{word}{mark}{dot}{rest}"


def _first_test(checkout: Path) -> str:
    """The first test file of a checkout in the order of its path; one whose name says so comes before a file of a test folder."""
    found = ""
    for folder, inner, names in os.walk(checkout):
        inner[:] = sorted(name for name in inner if name not in _SKIPPED)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), checkout)  # noqa: PTH118 - thousands of files
            if is_test(path) and (f".{name}".count(".test.") or f".{name}".count(".spec.")):
                return path
            found = found or (path if is_test(path) else "")
    return found


def _gathered(received: Received, output: str, *, root: str, files: Sequence[str]) -> Gathered:
    outcomes: list[TestOutcome] = []
    errors: list[CollectionError] = []
    problems = list(received.problems)
    kinds = {str(record["kind"]) for record in received.records}
    runner = next((str(one["runner"]) for one in received.records if one["kind"] == "hello"), "")
    for record in received.records:
        if record["kind"] == "result":
            outcomes.append(_outcome(record, root))
        elif record["kind"] == "broken":
            errors += _broken(record, root)
        elif record["kind"] == "problem":
            problems.append(str(record["text"])[:500])
    ended = "finished" in kinds
    if runner == "mocha" and not kinds & {"started", "finished"}:
        errors += _broken_at_load(output, root, files)
        ended = bool(errors)  # mocha gives up when one file cannot be loaded, before anything has run
    return Gathered(outcomes=outcomes, errors=errors, problems=problems, ended=ended, runner=runner)


def _outcome(record: Mapping[str, Any], root: str) -> TestOutcome:
    path = relative(str(record["file"]), root)
    failure = None
    if record["outcome"] in ("failed", "error"):
        failure = failure_of_error(record["error"] or {}, root=root, test_file=path)
    return TestOutcome(
        id=f"{path}::{' > '.join(str(one) for one in record['titles'])}",
        outcome=record["outcome"],
        duration_s=float(record["duration"]),
        failure=failure,
    )


def _broken(record: Mapping[str, Any], root: str) -> list[CollectionError]:
    """A file that could not be loaded, or whose process ended otherwise than its tests say; a compiler tells several errors."""
    path = relative(str(record["file"]), root)
    text = str(record.get("text") or "")
    error = record.get("error") or {}
    told = compiler_failures(str(error.get("message") or text), root=root, test_file=path)
    if told:
        return [CollectionError(id=path, failure=one, text=one.text) for one in told]
    failure = failure_of_error(error, root=root, test_file=path) if error else None
    failure = failure or failure_of_output(text, root=root, test_file=path)
    if failure is None:
        said = "its process failed although its tests were told" if record.get("results") else "its process failed"
        failure = Failure(exc_type="Error", message=said, file=path, text=text[-800:] or said)
    return [CollectionError(id=path, failure=failure, text=failure.text)]


def _broken_at_load(output: str, root: str, files: Sequence[str]) -> list[CollectionError]:
    failure = failure_of_output(output, root=root, test_file=files[0] if len(files) == 1 else "")
    if failure is None:
        return []
    blamed = [one for one in files if one == failure.file or f"/{one}" in output or failure.file == ""] or list(files)
    return [CollectionError(id=one, failure=failure, text=failure.text) for one in blamed or [failure.file or "mocha"]]


_LONGEST_S = 600.0
_SOURCES = ("ts", "mts", "cts", "tsx", "jsx", "js", "mjs", "cjs")
_SKIPPED_FOLDERS = frozenset({"node_modules", ".git"})
_TOLD = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedProject:
    """What came of the commands before the tests.

    Attributes:
        failed: commands that did not end with 0, each with the end of what it printed.
        built: repository path of a source -> of the file that was made of it.
    """

    failed: Mapping[str, str]
    built: Mapping[str, str]


NOTHING = PreparedProject(failed={}, built={})


def prepare(plan: TestPlan, ground: TestSandbox, *, timeout_s: float) -> PreparedProject:
    """Run the commands that a plan has before its tests, in the sandbox, in the checkout whose tests run.

    A command that fails is no verdict: a compiler that finds a wrong type may still have written everything.

    Args:
        timeout_s: limit of each of them; at most ten minutes.
    Side effects: whatever the commands write into the checkout.
    """
    if not plan.prepare:
        return NOTHING
    before = _files(ground)
    environment = {"CI": "1", "NO_COLOR": "1"}
    failed: dict[str, str] = {}
    for command in plan.prepare:
        place = box(plan, ground, env=environment)
        paths = f"{ground.root / 'node_modules' / '.bin'}{os.pathsep}{place.env['PATH']}"
        done = ground.sandbox.run(
            ["sh", "-c", command],
            box=replace(place, env={**place.env, "PATH": paths}),
            timeout_s=min(timeout_s, _LONGEST_S),
        )
        if done.exit_code != 0 or done.timed_out:
            failed[command] = "it was stopped at its time limit" if done.timed_out else done.text[-_TOLD:]
    return PreparedProject(failed=failed, built=_built(before, _files(ground) - before))


def with_failed_build(run: SuiteRun, prepared: PreparedProject, *, root: str) -> SuiteRun:
    """Tell of a build that failed, where the tests could not be loaded after it.

    Args:
        root: the checkout as the tests saw it.
    """
    if not prepared.failed or (run.outcomes and not run.collection_errors):
        return run
    errors: list[CollectionError] = []
    for command, output in prepared.failed.items():
        told = compiler_failures(output, root=root, test_file="")
        errors += [CollectionError(id=one.file or command, failure=one, text=one.text) for one in told]
        if not told:
            last = next((line for line in reversed(output.splitlines()) if line.strip()), "it failed")
            failure = Failure(exc_type="BuildFailed", message=f"{command}: {last}"[:MESSAGE_LIMIT], text=output)
            errors.append(CollectionError(id=command, failure=failure, text=output))
    known = {one.id for one in errors}
    return replace(run, collection_errors=(*errors, *(one for one in run.collection_errors if one.id not in known)))


def named_by_source(run: SuiteRun, prepared: PreparedProject) -> SuiteRun:
    """Name the tests of compiled files by the files that people write."""
    if not prepared.built:
        return run
    sources = {made: source for source, made in prepared.built.items()}

    def named(nodeid: str) -> str:
        path, mark, rest = nodeid.partition("::")
        return f"{sources.get(path, path)}{mark}{rest}"

    return replace(
        run,
        outcomes={named(name): replace(one, id=named(name)) for name, one in run.outcomes.items()},
        collected=tuple(named(one) for one in run.collected),
        collection_errors=tuple(replace(one, id=named(one.id)) for one in run.collection_errors),
    )


def _files(ground: TestSandbox) -> frozenset[str]:
    found: list[str] = []
    for folder, inner, names in os.walk(ground.checkout):
        inner[:] = [name for name in inner if name not in _SKIPPED_FOLDERS]
        relative = os.path.relpath(folder, ground.checkout)
        found += [name if relative == "." else f"{relative}/{name}" for name in names]
    return frozenset(found)


def _built(before: frozenset[str], made: frozenset[str]) -> dict[str, str]:
    """Which source each new script was made of: the file with the longest same end of its path, but for the suffix."""
    by_name: dict[str, list[str]] = {}
    for path in before:
        if path.rpartition(".")[2] in _SOURCES and not path.endswith(".d.ts"):
            by_name.setdefault(PurePosixPath(path).stem, []).append(path)
    found: dict[str, str] = {}
    for path in sorted(made):
        if path.rpartition(".")[2] not in ("js", "mjs", "cjs"):
            continue
        fitting = by_name.get(PurePosixPath(path).stem, [])
        best = max(fitting, key=lambda one: _same_end(one, path), default="")
        if best:
            found.setdefault(best, path)
    return found


def _same_end(one: str, other: str) -> int:
    """How many folders above the file's name are the same, counted from the file."""
    first, second = PurePosixPath(one).parent.parts[::-1], PurePosixPath(other).parent.parts[::-1]
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
