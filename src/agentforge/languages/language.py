"""What a language is to the rest of the program: one record, which the folder of the language exports as `LANGUAGE`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentforge.languages.stub_values import NullWay, Source, Variant
from agentforge.languages.symbols import Symbol
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_SHOWN = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong change.

    Attributes:
        kind: the operator's name.
        owner: qualified name of the function or class; "" is the module.
        last: the last line of what is replaced.
        before, after: the line's old and new text, short.
        data: the whole mutated file.
    """

    path: str
    line: int
    last: int
    kind: str
    owner: str
    before: str
    after: str
    data: bytes

    @property
    def name(self) -> str:
        """Names the mutant for people and for the model: path, line, the wrong text."""
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


def short(text: str) -> str:
    """A text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."


_LEAST_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFiles:
    """The repository whose tests are looked for.

    Attributes:
        repo: its absolute path; names: its files, relative to that.
        settings: the table `[test]`.
        base: the fields that a plan has whatever the language.
    """

    repo: Path
    names: Sequence[str]
    settings: Mapping[str, Any]
    environ: Mapping[str, str]
    base: Mapping[str, Any]

    def holds(self, *names: str) -> str:
        """The first of some names that the repository has at its root, "" none."""
        return next((one for one in names if one in self.names), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a runner is asked to run.

    Attributes:
        tests: ids, files or folders; () is the whole suite.
        seed: order of the tests; None is the project's own order.
        extra_args: more arguments for the project's own runner, where it takes any.
        trace: record what each test executes, where the runner can; traced_files: the only files of which that is recorded.
        calls: write down calls of their functions, too.
        test_limit_s: a test that takes longer is stopped and has failed, where the runner can; 0 = no limit.
        tests_s: limit of the tests once they are built, where the runner builds them first; 0 = `timeout_s`.
    """

    timeout_s: float
    tests: Sequence[str] = ()
    seed: int | None = None
    extra_args: Sequence[str] = ()
    trace: bool = False
    traced_files: tuple[str, ...] = ()
    calls: bool = False
    test_limit_s: float = 0.0
    tests_s: float = 0.0

    @property
    def running(self) -> RunningTime:
        """What the tests may take once they are built."""
        return RunningTime(left_s=min(self.timeout_s, self.tests_s or self.timeout_s), in_parts=self.tests_s > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPart:
    """A part of a product file that is compiled or run for tests alone.

    Attributes:
        name: what tells it from others of the file, as `inner::tests`.
        first, last: its first character, and the one behind it.
    """

    __test__ = False  # no test class, whatever pytest thinks of the name

    name: str
    first: int
    last: int


class Run(Protocol):
    """Run a suite in its box."""

    def __call__(self, plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
        """Return what the suite showed; raise ToolchainError where the plan cannot be run."""


class Stubs(Protocol):
    """Make wrong implementations of declared symbols."""

    def __call__(self, symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
        """Return the variants, the raising one first; () where none can be made."""


class Mutants(Protocol):
    """Make the mutants of changed lines of a file."""

    def __call__(self, path: str, data: bytes, *, lines: int, before: bytes | None = None) -> tuple[Mutant, ...]:
        """Return them in the order of the file.

        `lines` has a bit for each changed line; of a line that was only extended `before`, the file as it was, leaves out
        what stood there already.
        """


class NullImplementation(Protocol):
    """Write a file in which every changed function is wrong."""

    def __call__(self, path: str, before: bytes | None, after: bytes, *, way: NullWay) -> bytes | None:
        """Return the file, b"" where no function changed, None where nothing can be told of the change, such as of data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Everything about one language that the rest of the program asks for.

    Attributes:
        name: as plans name it.
        rank: the place in which its project files are looked for; a smaller one comes first.
        runners: names of its test runners, as plans name them.
        grammars: names of its grammars in `workspace.code.symbols`.
        manifests: files that say how a project of it is built.
        comment: what a comment begins with that ends with its line.
        find: the plan of a repository by what it says of itself, None when it is none of this language.
        plan_of_command: the plan of a `[test] command` that starts one of its runners, None for any other command.
        run: run a suite.
        named_tests: (name as the runner tells it, source text) of each test below the root of a file's tree.
        test_parts: the parts of a product file that are tests, below the root of its tree; None = tests have their own files.
        holds_tests: whether there are tests below it, those with a computed title included; None = `named_tests` knows all.
        stubs: wrong implementations for RED's controls, None where none can be made.
        spoiling: wrong implementations that change their arguments, None where none can be made.
        null_implementation: changed functions made wrong, to see which target notices nothing; None where that is not known.
        mutants: small wrong changes, None where none can be made.
        is_compiled: test files are compiled together, and what does not compile shows nothing.
        keeps_neighbours: a test file that does not compile keeps others of its folder from running.
        runs_all: the runner cannot run some of the tests alone.
        steering: names of files that steer its runners as a whole, such as a configuration that has nothing else in it.
        subtests: what stands between a test function and the title of a part of it, as the runner prints that; "" = no parts.
        examined_test: where the examiner writes its tests in a project that has none.
    """

    name: str
    rank: int
    runners: tuple[str, ...]
    find: Callable[[ProjectFiles], TestPlan | None]
    run: Run
    plan_of_command: Callable[[ProjectFiles, Sequence[str]], TestPlan | None] = lambda _project, _command: None
    grammars: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    comment: str = "//"
    named_tests: Callable[[SgNode], Iterator[tuple[str, str]]] | None = None
    test_parts: Callable[[SgNode], Iterator[TestPart]] | None = None
    holds_tests: Callable[[SgNode], bool] | None = None
    stubs: Stubs | None = None
    spoiling: Stubs | None = None
    null_implementation: NullImplementation | None = None
    mutants: Mutants | None = None
    is_compiled: bool = False
    keeps_neighbours: bool = False
    runs_all: bool = False
    steering: tuple[str, ...] = ()
    subtests: str = ""
    examined_test: str = ""


@dataclass(slots=True, kw_only=True)
class RunningTime:
    """What is left of the limit of several runs of tests.

    Attributes:
        in_parts: a run gets half of what is left, so that one that loops for ever leaves time for those behind it.
    """

    left_s: float
    in_parts: bool = False

    @property
    def next_s(self) -> float:
        """The limit of the next run, at least a second."""
        return max(_LEAST_S, self.left_s / 2 if self.in_parts else self.left_s)

    @property
    def is_over(self) -> bool:
        """Whether what is left is too little for a run."""
        return self.left_s < _LEAST_S

    def spend(self, seconds: float) -> None:
        """Take what a run took."""
        self.left_s -= seconds
