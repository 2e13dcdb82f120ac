"""What a run of a test suite showed, as frozen records and as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

_PLACES = re.compile(r"%[a-zA-Z#$%]|\$[A-Za-z_#][\w.]*")


def file_of(nodeid: str) -> str:
    """The repository path that an id begins with."""
    return nodeid.partition("::")[0]


def name_of(nodeid: str) -> str:
    """What follows the path: classes, modules or titles and the test's own name, with parameters."""
    return nodeid.partition("::")[2]


_WITH_ROWS = (".py", ".pyi", ".java")
"""Files of which a runner writes a row of a parametrised test behind its name, in brackets; other titles may hold their own."""
_WITH_SUBTESTS = ".go"
"""A subtest of such a file stands in brackets behind its function, whatever its title holds."""


_HOOK = re.compile(r'(?: > |::)"(?:before|after)(?: each| all)?" hook\b')


def is_hook(nodeid: str) -> bool:
    """Whether an id is mocha's name of a hook, which it tells only where the hook failed."""
    return _HOOK.search(nodeid) is not None


def without_parameters(nodeid: str) -> str:
    """The id of the test function that a parametrised case belongs to; a bracket in the path, or of a title, is no parameter."""
    return test_and_row(nodeid)[0]


def test_and_row(nodeid: str) -> tuple[str, str]:
    """An id without the row of a parametrised test, and the row with its closing bracket; "" where there is none."""
    path, mark, name = nodeid.partition("::")
    bare, _, row = name.partition("[")
    if path.endswith(_WITH_ROWS) or (path.endswith(_WITH_SUBTESTS) and bare.isidentifier()):
        return path + mark + bare, row
    return nodeid, ""


test_and_row.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name


def means(nodeid: str, *, path: str, name: str) -> bool:
    """Whether an id is a test that somebody declared by its path and by its name.

    The name may be the whole id, the function, `Class::function`, `Class.function`, or the title or titles that a
    JavaScript test has (`group > title`); parameters may be left out. The title of `it.each` as it is written, with its places to
    be filled (`adds %i to $b`), means every case of it.
    """
    if file_of(nodeid) != path:
        return False
    own, said = name_of(nodeid), name.removeprefix(f"{path}::")
    if _ends(own, said) or _ends(own, said.replace(".", "::")):
        return True
    if fills(said, own) or fills(said, own.rpartition(" > ")[2]):
        return True
    bare = name_of(without_parameters(nodeid))
    return _ends(bare, said) or _ends(bare, name_of(without_parameters(f"{path}::{said}")).replace(".", "::"))


def fills(template: str, title: str) -> bool:
    """Whether a title is one case of another that has places to be filled: `adds 1 to 2` of `adds %i to $b`."""
    parts = _PLACES.split(template)
    if len(parts) == 1 or "".join(parts).strip(" >") == "":
        return False
    return re.fullmatch(".*".join(re.escape(part) for part in parts), title, re.DOTALL) is not None


def _ends(name: str, said: str) -> bool:
    return bool(said) and (name == said or name.endswith((f"::{said}", f" > {said}")))


Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
Canary = Literal["held", "broken", "absent"]

MESSAGE_LIMIT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a test did not pass.

    Attributes:
        message: at most 500 characters.
        file: repository path of the innermost frame that belongs to the project; empty when there is none.
        in_test: that frame is in the test's own file.
        names: symbols that the exception is about, as far as it says.
        text: short traceback for a reader, at most 1,500 characters.
    """

    exc_type: str
    message: str
    file: str = ""
    line: int = 0
    in_test: bool = False
    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """One test. `id` is a node id relative to the repository root, like `tests/test_a.py::TestB::test_c[1]`."""

    __test__ = False  # no test class, whatever pytest thinks of the name

    id: str
    outcome: Outcome
    duration_s: float = 0.0
    failure: Failure | None = None

    @property
    def passed(self) -> bool:
        """Only a plain pass counts: not a skip, an expected failure or an unexpected success."""
        return self.outcome == "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionError:
    """A file that could not be collected."""

    id: str
    failure: Failure | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyEnd:
    """How a process ended before its tests were done, by itself: a time limit is no early end.

    Attributes:
        exit_code: its own; 128 + N when signal N ended it.
        running: id of the test that ran, "" where the runner announces none.
        said: the last lines that it printed, "" where there are none.
    """

    exit_code: int
    running: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """A run of a suite.

    Attributes:
        collected: ids that were to run; a hang or an early exit leaves some of them without an outcome.
        complete: the session ended by itself and every collected test has an outcome.
        canary: whether the tests that had to fail did fail, and the one that had to come last came last.
        agree: the second channel (JUnit XML) tells the same ids and outcomes; None where the runner has none.
        problems: what makes this run less than evidence, in words.
        killed: SIGKILL ended the session, and our time limit did not send it: the machine, an operator, or the session itself.
        output_tail: the end of what was printed, for people only.
        coverage: what each test executed, when the run was to record it (see runners/traced.py).
        early_end: how the process ended before its tests were done; None where it did not.
    """

    outcomes: Mapping[str, TestOutcome] = field(default_factory=dict)
    collected: tuple[str, ...] = ()
    collection_errors: tuple[CollectionError, ...] = ()
    complete: bool = False
    canary: Canary = "absent"
    agree: bool | None = None
    timed_out: bool = False
    problems: tuple[str, ...] = ()
    duration_s: float = 0.0
    output_tail: str = ""
    command: tuple[str, ...] = ()
    runner: str = ""
    coverage: Mapping[str, Any] | None = None
    killed: bool = False
    early_end: EarlyEnd | None = None

    @property
    def passed_ids(self) -> tuple[str, ...]:
        """Ids of the tests that passed, sorted."""
        return tuple(sorted(name for name, outcome in self.outcomes.items() if outcome.passed))

    @property
    def failing_ids(self) -> tuple[str, ...]:
        """Ids of the tests that failed or broke, sorted; skips and expected failures are neither."""
        return tuple(sorted(name for name, one in self.outcomes.items() if one.outcome in ("failed", "error")))


def run_value(run: SuiteRun) -> dict[str, Any]:
    """The JSON value of a run. Written out by hand: a suite may have twenty thousand outcomes."""
    return {
        "outcomes": [
            {"id": one.id, "outcome": one.outcome, "duration_s": one.duration_s, "failure": _failure_value(one.failure)}
            for one in run.outcomes.values()
        ],
        "collected": list(run.collected),
        "collection_errors": [
            {"id": one.id, "failure": _failure_value(one.failure), "text": one.text} for one in run.collection_errors
        ],
        "complete": run.complete,
        "canary": run.canary,
        "agree": run.agree,
        "timed_out": run.timed_out,
        "problems": list(run.problems),
        "duration_s": run.duration_s,
        "output_tail": run.output_tail,
        "command": list(run.command),
        "runner": run.runner,
        "coverage": run.coverage,
    }


def _failure_value(failure: Failure | None) -> dict[str, Any] | None:
    return None if failure is None else asdict(failure)


def run_of(value: Mapping[str, Any]) -> SuiteRun:
    """Read a run back from its JSON value."""
    outcomes = [outcome_of(one) for one in value["outcomes"]]
    errors = [
        CollectionError(id=one["id"], text=one["text"], failure=failure_of(one["failure"]))
        for one in value["collection_errors"]
    ]
    return SuiteRun(
        outcomes={one.id: one for one in outcomes},
        collected=tuple(value["collected"]),
        collection_errors=tuple(errors),
        complete=bool(value["complete"]),
        canary=value["canary"],
        agree=value["agree"],
        timed_out=bool(value["timed_out"]),
        problems=tuple(value["problems"]),
        duration_s=float(value["duration_s"]),
        output_tail=str(value["output_tail"]),
        command=tuple(value["command"]),
        runner=str(value["runner"]),
        coverage=value.get("coverage"),
    )


def outcome_of(value: Mapping[str, Any]) -> TestOutcome:
    """Read one test's outcome from its JSON value."""
    return TestOutcome(
        id=value["id"],
        outcome=value["outcome"],
        duration_s=float(value["duration_s"]),
        failure=failure_of(value["failure"]),
    )


def failure_of(value: Mapping[str, Any] | None) -> Failure | None:
    """Read a failure from its JSON value."""
    if value is None:
        return None
    return Failure(
        exc_type=str(value["exc_type"]),
        message=str(value["message"])[:MESSAGE_LIMIT],
        file=str(value["file"]),
        line=int(value["line"]),
        in_test=bool(value["in_test"]),
        names=tuple(str(name) for name in value["names"]),
        text=str(value["text"]),
    )
