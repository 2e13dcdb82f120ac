"""Finds how the tests of a Ruby project are run: minitest by ruby itself, where the tests say so.

Runs minitest's tests in one process with our own reporter, and plants tests that must fail and pass beside the others.

Reads what Ruby says of an exception: its kind, the place in the project, the symbols that it is about.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.language import ProjectFiles, RunOptions
from agentforge.testing.channel import Channel, Received
from agentforge.testing.launch import TestSandbox, borrowed, box
from agentforge.testing.outcome import MESSAGE_LIMIT, CollectionError, Failure, Outcome, SuiteRun, TestOutcome, file_of
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import Gathered, Planted, drawn_outcomes, judged, new_word
from agentforge.workspace.files import walk

_PROGRAM = Path(__file__).with_name("minitest_program.rb")
_OWN_ORDER = 0
_PLANTED = 'require "minitest/autorun"\n\nclass {owner} < Minitest::Test\n{tests}end\n'
_FAILS, _PASSES = "  def {name}; assert false; end\n", "  def {name}; assert true; end\n"
_READ_FILES, _READ_BYTES = 50, 20_000
_COMMAND = ("ruby", "-Ilib", "-Itest")


def run_minitest(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the suite, or the files of the named tests; without a seed their order is always the same.

    Side effects: a file with planted tests stands in the checkout while the tests run.
    """
    files = _files(ground.checkout, ask.tests)
    if ask.tests and not files:
        return SuiteRun(problems=("none of the named test files exists in the checkout",), runner=plan.runner)
    word = new_word()
    drawn = {f"test_{word}_{letter}": outcome for letter, outcome in drawn_outcomes().items()}
    place, owner = _planted_place(files, word), f"Planted{word.capitalize()}"
    bodies = [(_PASSES if outcome == "passed" else _FAILS).format(name=name) for name, outcome in drawn.items()]
    (ground.checkout / place).parent.mkdir(parents=True, exist_ok=True)
    (ground.checkout / place).write_text(_PLANTED.format(owner=owner, tests="".join(bodies)), "utf-8")
    expected: dict[str, Outcome] = {f"{place}::{owner}::{name}": outcome for name, outcome in drawn.items()}
    channel = Channel()
    setup = json.dumps({"descriptor": channel.descriptor, "key": channel.key.hex()}).encode()
    argv = [
        "ruby",
        "-Ilib",
        "-Itest",
        "-I.",
        str(_PROGRAM),
        str(_OWN_ORDER if ask.seed is None else ask.seed),
        *files,
        place,
    ]
    try:
        with borrowed(plan, ground):
            completed = ground.sandbox.run(
                argv,
                box=box(plan, ground, env={"RUBYOPT": "-W0"}, read_only=(_PROGRAM.parent,)),
                timeout_s=ask.timeout_s,
                stdin=setup,
                pass_fds=(channel.descriptor,),
            )
    finally:
        received = channel.close()
        (ground.checkout / place).unlink(missing_ok=True)
    gathered = _gathered(received, root=str(ground.root), word=word)
    return judged(gathered, completed, plan=plan, planted=Planted(word=word, expected=expected), tests=ask.tests)


def _files(checkout: Path, tests: Sequence[str]) -> list[str]:
    """The files to load: those of the named tests and folders, else every file of tests."""
    every = [name for name in walk.files(checkout) if is_ruby_test(name)]
    if not tests:
        return every
    named = [one for one in dict.fromkeys(map(file_of, tests)) if (checkout / one).is_file()]
    folders = tuple(f"{one.rstrip('/')}/" for one in tests if (checkout / one).is_dir())
    return list(dict.fromkeys([*named, *(one for one in every if folders and one.startswith(folders))]))


def _planted_place(files: Sequence[str], word: str) -> str:
    folder = files[0].rpartition("/")[0] if files else "test"
    return f"{folder or 'test'}/{word}_test.rb"


def _gathered(received: Received, *, root: str, word: str) -> Gathered:
    outcomes: list[TestOutcome] = []
    errors: list[CollectionError] = []
    listed: list[str] = []
    problems, runner, ended = list(received.problems), "", False
    for record in received.records:
        kind = record["kind"]
        if kind == "result":
            outcomes.append(_outcome(record, root))
        elif kind == "broken":
            path = _relative(record, root)
            failure = failure_of(record["error"], root=root, test_file=path)
            errors.append(CollectionError(id=path, failure=failure, text=failure.text))
        elif kind == "problem":
            problems.append(str(record["text"])[:500])
        elif kind == "hello":
            runner = str(record["runner"])
            known = [str(one).removeprefix(f"{root}/").replace("\n", "::", 1) for one in record["collected"]]
            listed = [one for one in known if word not in one]
        ended = ended or kind == "finished"
    return Gathered(outcomes=outcomes, errors=errors, problems=problems, ended=ended, listed=listed, runner=runner)


def _outcome(record: Mapping[str, Any], root: str) -> TestOutcome:
    path = _relative(record, root)
    failure = failure_of(record["error"], root=root, test_file=path) if record["error"] else None
    return TestOutcome(
        id=f"{path}::{record['name']}",
        outcome=record["outcome"],
        duration_s=float(record["duration"]),
        failure=failure if record["outcome"] == "failed" else None,
    )


def _relative(record: Mapping[str, Any], root: str) -> str:
    return str(record["file"]).removeprefix(f"{root}/")


_TEXT_LIMIT = 1500
_FRAME = re.compile(r"^(/[^:\n]+):(\d+)(?::in .*)?$", re.MULTILINE)
_SYMBOLS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("NameError", "ImportError", re.compile(r"uninitialized constant (?:[\w:]*::)?(\w+)")),
    ("NoMethodError", "AttributeError", re.compile(r"undefined method [`'](\w+[?!=]?)'")),
    ("NameError", "NameError", re.compile(r"undefined local variable or method [`'](\w+[?!]?)'")),
    ("LoadError", "ModuleNotFoundError", re.compile(r"cannot load such file -- (\S+)")),
)
_CALLED = re.compile(r":in [`'](?:[\w:]+[.#])?(\w+[?!=]?)'")


def failure_of(error: Mapping[str, Any], *, root: str, test_file: str) -> Failure:
    """Describe an exception that the program sent: {name, message, trace}.

    The kinds are those that judge a failure everywhere: a missing constant is an ImportError, a missing file a
    ModuleNotFoundError, a missing method an AttributeError, wrong arguments a TypeError.
    """
    name, message, trace = (str(error.get(key) or "") for key in ("name", "message", "trace"))
    path, line = _place(trace, root)
    kind, names = _kind(name, message, trace, root)
    text = f"{name}: {message}\n{trace}".replace(f"{root}/", "")
    said = message if kind in ("AssertionError", name) else f"{name}: {message}"
    return Failure(
        exc_type=kind,
        message=said.replace(f"{root}/", "")[:MESSAGE_LIMIT] or "it failed",
        file=path,
        line=line,
        in_test=bool(path) and path == test_file,
        names=names,
        text=text[:_TEXT_LIMIT],
    )


def _place(trace: str, root: str) -> tuple[str, int]:
    """The innermost frame that belongs to the project."""
    for path, line in _FRAME.findall(trace):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :], int(line)
    return "", 0


def _kind(name: str, message: str, trace: str, root: str) -> tuple[str, tuple[str, ...]]:
    if name == "Minitest::Assertion":
        return "AssertionError", ()
    for raised, kind, pattern in _SYMBOLS:
        found = pattern.search(message) if name == raised else None
        if found is not None:
            word = found[1].removeprefix(f"{root}/").removesuffix(".rb").lstrip("./")
            return kind, (word.replace("/", "."),)
    if name == "ArgumentError" and re.match(r"wrong number of arguments|unknown keyword|missing keyword", message):
        called = _CALLED.search(trace)
        return "TypeError", (called[1],) if called is not None else ()
    return name or "Error", ()


def is_ruby_test(path: str) -> bool:
    """Whether a repository path looks like a file of minitest's: below test/ or spec/, by its name."""
    stem, dot, suffix = PurePosixPath(path).name.rpartition(".")
    folder = PurePosixPath(path).parts[0] in ("test", "tests", "spec")
    named = stem.startswith("test_") or stem.endswith(("_test", "_spec"))
    return bool(dot) and suffix == "rb" and named and folder


def find_ruby(project: ProjectFiles) -> TestPlan | None:
    """The plan of a project with minitest's tests, or with a Ruby build file and no tests yet; None for any other."""
    tests = [name for name in project.names if is_ruby_test(name)]
    by = next((name for name in _speaking(project, tests) if _mentions_minitest(project, name)), "")
    manifest = project.holds("Gemfile", "Rakefile") or next(
        (one for one in project.names if one.endswith(".gemspec")), ""
    )
    if not by and (tests or not manifest or ".rspec" in project.names):
        return None
    source = f"detected: minitest via {by}" if by else f"no tests yet; minitest is there for new ones ({manifest})"
    return _plan(project, source)


def plan_of_ruby_words(project: ProjectFiles, command: Sequence[str]) -> TestPlan | None:
    """The plan of a command that starts minitest's tests (`rake test`, `bundle exec rake`); None for any other."""
    words = list(command[2:] if tuple(command[:2]) == ("bundle", "exec") else command)
    if words not in (["rake"], ["rake", "test"]):
        return None
    plan = find_ruby(project)
    return replace(plan, command=tuple(command)) if plan is not None else None


def _speaking(project: ProjectFiles, tests: Sequence[str]) -> list[str]:
    helpers = [
        name for name in ("test/test_helper.rb", "test/helper.rb", "spec/spec_helper.rb") if name in project.names
    ]
    return [*helpers, *tests[:_READ_FILES], *([project.holds("Gemfile")] if project.holds("Gemfile") else [])]


def _mentions_minitest(project: ProjectFiles, name: str) -> bool:
    try:
        text = (project.repo / name).read_bytes()[:_READ_BYTES]
    except OSError:
        return False
    return b"minitest" in text or b"Minitest" in text


def _plan(project: ProjectFiles, source: str) -> TestPlan:
    there = shutil.which("ruby", path=project.environ.get("PATH")) is not None
    return TestPlan(
        runner="minitest" if there else "none",
        command=_COMMAND,
        language="ruby",
        source=source,
        problems=() if there else ("ruby is not on PATH; install Ruby and minitest",),
        **project.base,
    )
