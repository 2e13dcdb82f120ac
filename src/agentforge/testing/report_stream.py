"""Makes a `SuiteRun` of what a runner other than Python's told, judges its planted tests, and tells why a program ended."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact
from agentforge.testing.outcome import (
    Canary,
    CollectionError,
    EarlyEnd,
    Failure,
    Outcome,
    SuiteRun,
    TestOutcome,
    file_of,
    without_parameters,
)
from agentforge.testing.plan import TestPlan
from agentforge.workspace.processes.process import Completed

_TAIL = 2000
SIGNALLED = 128
"""An exit code above it is that of a process that a signal ended: 128 + its number."""
_KILLED = 137
_LETTERS = "abcd"
_RANK: dict[Outcome, int] = {"passed": 0, "xpassed": 1, "xfailed": 2, "skipped": 3, "failed": 4, "error": 5}
_SAYS_WHY = re.compile(
    r"Fatal Python error:|"  # pytest's dots stand before it in its line
    r"\b(?:[A-Z]\w*)?(?:Error|Exception|Warning|Interrupt|Exit)\b[^\n]{0,80}?:|(?i:^\W*(?:\S+: )?(?:fatal|error|panic)\b)|"
    r"(?i:\b(?:unknown|unrecogni[sz]ed|unexpected|invalid|no such|cannot|can't|could not|not found|no module|not installed)\b)"
)
_FRAME = re.compile(r"^\s*(?:at \S|File \"|[~^]+\s*$|-+\s*$|=+\s*$|Node\.js v\d)")
_LINES = 3
_CHARS = 280
_LOOKED_AT = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What a runner told.

    Attributes:
        outcomes: in the order of the session, planted tests among them; an id may stand twice.
        ended: the runner itself said that it was done.
        listed: ids that were to run, as far as they were known before; each needs an outcome.
        runner: name and version.
    """

    outcomes: Sequence[TestOutcome]
    errors: Sequence[CollectionError] = ()
    problems: Sequence[str] = ()
    ended: bool = True
    listed: Sequence[str] = ()
    runner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What one of several test programs told.

    Attributes:
        listed: ids that it was to run.
    """

    outcomes: tuple[TestOutcome, ...]
    listed: tuple[str, ...]
    completed: Completed
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """Tests of ours in the checkout.

    Attributes:
        word: stands in the names of all of them and of nothing else.
        expected: id -> the outcome that it must have.
    """

    word: str = ""
    expected: Mapping[str, Outcome] = field(default_factory=dict)

    def owns(self, nodeid: str) -> bool:
        """Whether an id is one of the planted ones."""
        return bool(self.word) and self.word in nodeid


def whole(built: Completed, sessions: Sequence[Session], *, took: Callable[[Iterable[float]], float]) -> Completed:
    """One ending for a build and all test programs: the worst exit code, the time of everything.

    Args:
        took: `sum` where they run one after the other, `max` where they run beside each other.
    """
    parts = [one.completed for one in sessions] or [built]
    return Completed(
        exit_code=max(one.exit_code for one in parts),
        output=b"\n".join([built.output[-1000:], *(one.output[-500:] for one in parts)]),
        omitted_bytes=0,
        timed_out=built.timed_out or any(one.timed_out for one in parts),
        duration_s=built.duration_s + took([one.duration_s for one in parts]),
    )


def was_killed(completed: Completed) -> bool:
    """Whether a process was ended by SIGKILL that did not come from our time limit."""
    return completed.exit_code == _KILLED and not completed.timed_out


def new_word() -> str:
    """A name that nobody can guess before the run."""
    return f"af{secrets.token_hex(4)}"


def drawn_outcomes() -> dict[str, Outcome]:
    """Draw which of the planted tests fail and which pass: letter -> outcome, both at least once.

    Nothing in the names tells which, so that code cannot let all tests pass but the ones that must fail.
    """
    found: dict[str, Outcome] = {}
    while len(set(found.values())) < 2:
        found = {letter: secrets.choice(("passed", "failed")) for letter in _LETTERS}
    return found


def judged(
    gathered: Gathered, completed: Completed, *, plan: TestPlan, planted: Planted, tests: Collection[str] = ()
) -> SuiteRun:
    """Say what a session shows, and whether it is evidence.

    Args:
        tests: ids, files or folders that were asked for; () is all.
    """
    canary = _canary(gathered.outcomes, planted)
    tests = frozenset(tests)
    own = _explained([one for one in gathered.outcomes if not planted.owns(one.id)])
    chosen = [one for one in own if selected(one.id, tests)]
    outcomes: dict[str, TestOutcome] = {}
    for one in chosen:
        known = outcomes.get(one.id)
        if known is None or _RANK[one.outcome] > _RANK[known.outcome]:
            outcomes[one.id] = one
    collected = [one.id for one in chosen]
    collected += [one for one in gathered.listed if selected(one, tests) and one not in outcomes]
    problems = [*gathered.problems, *_doubts(gathered, completed, planted, canary)]
    lost = [one for one in collected if one not in outcomes]
    signalled = completed.exit_code > SIGNALLED
    begun = bool(gathered.outcomes) and not gathered.ended  # a runner that cannot begin ends by itself
    said = "" if gathered.ended else last_words(completed.text)  # else what was printed is the stream of results
    early = not completed.timed_out and (begun or (signalled and bool(lost or not gathered.ended)))
    if lost:
        problems.append(f"{len(lost)} tests that were to run have no result, the first is {lost[0]}")
    return SuiteRun(
        outcomes=outcomes,
        collected=tuple(collected),
        collection_errors=tuple(one for one in gathered.errors if selected(one.id, tests)),
        complete=not problems,
        canary=canary,
        timed_out=completed.timed_out,
        killed=was_killed(completed),
        problems=tuple(problems),
        duration_s=round(completed.duration_s, 3),
        output_tail=completed.text[-_TAIL:],
        command=plan.command,
        runner=gathered.runner or plan.runner,
        early_end=EarlyEnd(exit_code=completed.exit_code, said=said) if early else None,
    )


def selected(nodeid: str, tests: Collection[str]) -> bool:
    """Whether a test is one of the wanted ones: its id, its file, a folder or group of it, or all cases of one test.

    Args:
        tests: a set where there are many; () is all.
    """
    if not tests:
        return True
    path, bare = file_of(nodeid), without_parameters(nodeid)
    if nodeid in tests or path in tests or bare in tests:
        return True
    groups, parts = bare.split(" > "), path.split("/")
    owners = bare.split("::")
    return (
        any(" > ".join(groups[:end]) in tests for end in range(1, len(groups)))
        or any("::".join(owners[:end]) in tests for end in range(2, len(owners)))
        or any("/".join(parts[:end]) in tests or "/".join((*parts[:end], "")) in tests for end in range(1, len(parts)))
    )


def repeated(ids: Sequence[str]) -> tuple[str, ...]:
    """Ids that stand more than once."""
    return tuple(one for one, count in Counter(ids).items() if count > 1)


def _explained(outcomes: Sequence[TestOutcome]) -> list[TestOutcome]:
    """Give a test that failed only because of its parts the failure of the first such part."""
    reasons: dict[str, Failure] = {}
    for one in outcomes:
        if one.failure is not None and one.failure.exc_type != "Error":
            groups = one.id.split(" > ")
            for owner in (without_parameters(one.id), *(" > ".join(groups[:end]) for end in range(1, len(groups)))):
                reasons.setdefault(owner, one.failure)
    return [
        replace(one, failure=reasons.get(one.id, one.failure))
        if one.failure is not None and one.failure.exc_type == "Error" and not one.failure.in_test
        else one
        for one in outcomes
    ]


def _canary(outcomes: Sequence[TestOutcome], planted: Planted) -> Canary:
    seen = [(one.id, one.outcome) for one in outcomes if planted.owns(one.id)]
    if not seen or not planted.expected:
        return "absent"
    return "held" if sorted(seen) == sorted(planted.expected.items()) else "broken"


def _doubts(gathered: Gathered, completed: Completed, planted: Planted, canary: Canary) -> list[str]:
    """What speaks against a session as a whole."""
    if completed.timed_out:
        return ["the suite was stopped at its time limit"]
    if not gathered.ended:
        return [with_last_words(f"the test process ended early (exit code {completed.exit_code})", completed.text)]
    red = canary == "held" or any(one.outcome in ("failed", "error") for one in gathered.outcomes) or gathered.errors
    if completed.exit_code == 0 and red:
        return ["the runner ended with 0, but tests failed"]
    if completed.exit_code != 0 and not red:
        return [with_last_words(f"the runner ended with {completed.exit_code}, but no test failed", completed.text)]
    if planted.expected and canary == "absent":
        return ["the planted test that must fail was not run: the runner's configuration names its files one by one"]
    return []


def last_words(output: str) -> str:
    """Return the last line that names an error with up to two that follow it; without such a line, the last three lines."""
    text = redact(clean(output[-_LOOKED_AT:])).text
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _FRAME.match(line)]
    telling = [at for at, line in enumerate(lines) if _SAYS_WHY.search(line)]
    start = telling[-1] if telling else max(0, len(lines) - _LINES)
    while telling and start > 0 and start - 1 in telling and telling[-1] - start < _LINES - 1:
        start -= 1  # an error told in several lines is told from its first one
    said = " | ".join(lines[start : start + _LINES])
    return said if len(said) <= _CHARS else f"{said[: _CHARS - 1]}…"


def with_last_words(problem: str, output: str) -> str:
    """Add to a sentence about a program's end what the program said last; unchanged where it said nothing."""
    said = last_words(output)
    return f"{problem}; the last that it printed: {said}" if said else problem
