"""Tests that people wrote and no implementation has met: shown with the request when a stage is stuck on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.disputes import BASE, GIVEN
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.testing.outcome import file_of, name_of, without_parameters
from agentforge.verification.effects.observed_effects import clauses
from agentforge.verification.source.test_hashes import test_functions

if TYPE_CHECKING:
    from agentforge.pipeline.model.runtime import Runtime

_ROWS = 5
_WHOLE = 700
"""Characters up to which a request is shown whole."""
_SENTENCES = 3
_WORD = re.compile(r"\w{3,}|\d+")


def unmet_facts(state: RunState, runtime: Runtime, facts: Json) -> dict[str, object]:
    """The failing tests that the user supplied, and those of the repository that pass no more, each with its line.

    Returns:
        {unmet_tests: {request, rows: [{by, where, quote, path, test}]}}; {} when there are none.
    """
    suite = facts.get("suite")
    failing = {
        str(row.get("id")): str(row.get("text"))
        for row in items(suite.get("failing") if isinstance(suite, dict) else ())
    }
    given = {name: text for name, text in failing.items() if file_of(name) in state.tests}
    lost = dict.fromkeys(texts(facts.get("regressions")), str(facts.get("failing_text") or ""))
    named = [
        *((GIVEN, name, text) for name, text in given.items()),
        *((BASE, name, text) for name, text in lost.items()),
    ]
    rows = [_row(by, name, text, state, runtime) for by, name, text in named[:_ROWS]]
    if not rows:
        return {}
    return {
        "unmet_tests": {"request": _shown(state.request, " ".join(str(row["quote"]) for row in rows)), "rows": rows}
    }


def _row(by: str, test_id: str, text: str, state: RunState, runtime: Runtime) -> dict[str, object]:
    path, test = file_of(test_id), name_of(without_parameters(test_id))
    tree = state.trees.get("red", "") if by == GIVEN else state.trees.get("baseline", "")
    source = (runtime.git.show(tree, path) or b"") if tree else b""
    lines = source.decode("utf-8", "replace").splitlines()
    first, last = _reach(source, test, len(lines))
    found = [int(number) for number in re.findall(rf"{re.escape(path)}:(\d+)", text)]
    line = next((number for number in reversed(found) if first <= number <= last), first)
    quote = lines[line - 1].strip() if 0 < line <= len(lines) else test
    return {"by": by, "where": f"{path}:{line}", "quote": quote, "path": path, "test": test}


def _reach(source: bytes, test: str, count: int) -> tuple[int, int]:
    """The first and the last line of a test; the whole file where its language is another."""
    nodes = [node for name, node, _classes in test_functions(source) if name == test]
    return (nodes[0].lineno, nodes[0].end_lineno or count) if nodes else (1, count)


def _shown(request: str, quotes: str) -> str:
    """The request, or of a long one the clauses that share most words and numbers with the tests."""
    if len(request) <= _WHOLE:
        return " ".join(request.split())
    wanted = set(_WORD.findall(quotes))
    parts = [one for one in clauses(request) if one.text.strip()]
    best = sorted(parts, key=lambda one: -len(wanted & set(_WORD.findall(one.text))))[:_SENTENCES]
    return " ... ".join(" ".join(one.text.split()) for one in sorted(best, key=lambda one: one.start))[:_WHOLE]
