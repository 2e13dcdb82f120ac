"""The suite's own assertions once more, outside the test runner: does what passed there hold anywhere?

The assertions of JavaScript suites once more, outside the test runner; see `again.py`.

Only a value that differs is told: an error may come from what the runner brings along (a document, globals, a set-up).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import PurePosixPath

from agentforge.suite import NO_EDITS, Edits, Rig
from agentforge.testing.outcome import file_of
from agentforge.verification.examples.claims import literal
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import Probe, evaluate
from agentforge.verification.examples.plain_javascript import NodeProbe, evaluate_in_node
from agentforge.verification.examples.suite_claims import Asserted, asserted, has_fixture_magic
from agentforge.verification.examples.suite_claims_javascript import NodeClaim, asserted_in_javascript
from agentforge.verification.examples.typed_comparison import difference, shown

_TESTS = 16
_EVALUATIONS = 20
_SETTINGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_ENVIRONMENT = (b"DJANGO_SETTINGS_MODULE", b"\nenv =", b"\nenv=", b"pytest_env")


def assertions_of(rig: Rig, tree: str, files: Sequence[str]) -> tuple[Asserted, ...]:
    """What the straight-line tests of some files assert; nothing where a conftest.py or a setting changes what they see."""
    read = rig.read(tree)
    found: list[Asserted] = []
    if any(word in (read(path) or b"") for path in _SETTINGS for word in _ENVIRONMENT):
        return ()
    for path in files:
        folders = [*PurePosixPath(path).parents]
        if path.endswith(".py") and not any(has_fixture_magic(read(str(one / "conftest.py"))) for one in folders):
            found += asserted(path, read(path) or b"")
    return tuple(found)


def repeat_assertions(
    rig: Rig, tree: str, claims: Sequence[Asserted], *, seed: int, edits: Edits = NO_EDITS
) -> tuple[str, ...]:
    """Evaluate the calls of tests in plain processes, a process for each test; sentences about those that do not hold.

    Results are compared by type and value as `==` should have it: numbers of different types are equal, an equality that an
    object defines itself is not believed. A result that an object of the project's own stands for is only asked whether it
    equals everything. Each test is evaluated two to six times: a result that differs is chance.

    Args:
        claims: of tests that passed under the runner.
        seed: chooses the tests when there are many.
    """
    groups: dict[str, list[Asserted]] = {}
    for claim in claims:
        groups.setdefault(claim.test, []).append(claim)
    chosen = sorted(groups) if len(groups) <= _TESTS else random.Random(seed).sample(sorted(groups), _TESTS)
    rows = [groups[name] for name in chosen]
    probes = [[Probe(source=one.call, names=one.names) for one in row] for row in rows]
    wrong: dict[str, None] = {}
    repeat = max(2, min(6, _EVALUATIONS // max(1, len(rows))))
    for row, answers in zip(rows, evaluate(rig, tree, probes, edits=edits, repeat=repeat), strict=True):
        for number, answer in enumerate(answers):
            claim = row[number % len(row)]
            said = _wrong(claim, answer)
            if said:
                result = f"{claim.call} {'raises' if claim.raises else '=='} {claim.raises or claim.returns}"
                wrong.setdefault(f"{claim.test} passes, but outside the test runner {result} does not hold: {said}")
    return tuple(wrong)


def _wrong(claim: Asserted, answer: CallResult) -> str:
    if answer.lost or (answer.stage == "import" and answer.raised):
        return ""  # the runner has paths or a set-up that a plain process has not
    if answer.ended != "done" and answer.value is None and not answer.raised:
        return "no result came, " + ("it took too long" if answer.ended == "timed out" else "the process ended")
    if claim.raises:
        wanted = claim.raises.rpartition(".")[2]
        return "" if any(name == wanted for name, _ in answer.raised) else "that exception is not raised"
    if answer.value is None:
        return f"it raises {answer.raised[0][0] if answer.raised else 'an exception'}: {answer.message[:120]}"
    found = difference(answer.value, literal(claim.returns), how="loose", streams=False)
    return f"the result {found}; it is {shown(answer.value)}" if found else ""


_MOST = 24
_JAVASCRIPT_SETTINGS = (
    "package.json",
    "vitest.config",
    "vite.config",
    "jest.config",
    "jest.setup",
    ".mocharc",
    "babel.config",
)
_SURROUNDINGS = (
    b"setupFiles", b"globalSetup", b"testEnvironment", b"environment", b"environmentOptions", b"moduleNameMapper",
    b"--require", b'"require"', b"TZ", b"globals:", b"transform",
)  # fmt: skip


def repeated_in_node(rig: Rig, tree: str, tests: Sequence[str], *, seed: int) -> tuple[str, ...]:
    """Evaluate what tests assert of single calls in plain processes; sentences about those whose value is another one.

    Args:
        tests: ids of tests that passed under the runner.
        seed: chooses among the assertions when there are many.
    """
    claims = claims_of_tests(rig, tree, tests)
    chosen = claims if len(claims) <= _MOST else random.Random(seed).sample(claims, _MOST)
    probes = [probe_of_claim(one) for one in chosen]
    answers = evaluate_in_node(rig, tree, probes)
    told = (_told(claim, answer) for claim, answer in zip(chosen, answers, strict=True))
    return tuple(dict.fromkeys(one for one in told if one))


def probe_of_claim(claim: NodeClaim) -> NodeProbe:
    """The call of an assertion."""
    return NodeProbe(source=claim.call, names={name: (file, whole) for name, file, whole in claim.names})


def claims_of_tests(rig: Rig, tree: str, tests: Sequence[str]) -> list[NodeClaim]:
    """What some tests assert of single calls; nothing where a setting changes what they see."""
    present = rig.git.list_files(tree)
    settings = [one for one in present if one.rpartition("/")[2].startswith(_JAVASCRIPT_SETTINGS)]
    if any(word in (rig.git.show(tree, one) or b"") for one in settings for word in _SURROUNDINGS):
        return []
    wanted, found = set(tests), []
    for path in dict.fromkeys(file_of(one) for one in tests):
        claims = asserted_in_javascript(path, rig.git.show(tree, path) or b"", present=set(present))
        found += [one for one in claims if one.test in wanted]
    return found


def _told(claim: NodeClaim, answer: CallResult) -> str:
    if answer.value is None:
        return ""
    found = difference(answer.value, literal(claim.returns), how="loose", streams=False)
    if not found:
        return ""
    return (
        f"{claim.test} passes, but outside the test runner {claim.call} == {claim.returns} does not hold: "
        f"the result {found}; it is {shown(answer.value)}"
    )
