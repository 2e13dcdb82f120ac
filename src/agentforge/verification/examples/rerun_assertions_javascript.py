"""The assertions of JavaScript suites once more, outside the test runner; see `again.py`.

Only a value that differs is told: an error may come from what the runner brings along (a document, globals, a set-up).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from agentforge.suite.test_environment import Rig
from agentforge.testing.outcome import file_of
from agentforge.verification.examples.claims import literal
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_javascript import NodeProbe, evaluate_in_node
from agentforge.verification.examples.suite_claims_javascript import NodeClaim, asserted_in_javascript
from agentforge.verification.examples.typed_comparison import difference, shown

_MOST = 24
_SETTINGS = ("package.json", "vitest.config", "vite.config", "jest.config", "jest.setup", ".mocharc", "babel.config")
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
    settings = [one for one in present if one.rpartition("/")[2].startswith(_SETTINGS)]
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
