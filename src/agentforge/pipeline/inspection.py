"""Work that is verified by inspection alone: RED has nothing to write, and GREEN measures that nothing runs otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentforge.contracts.inspection import GUARDING, by_inspection_alone, needs_inertness
from agentforge.events.judged import judged
from agentforge.events.state import RunState
from agentforge.pipeline.scope import named_files
from agentforge.pipeline.stage import Json, action_of, items, texts
from agentforge.workspace.symbols import language_of

if TYPE_CHECKING:
    from agentforge.pipeline.runtime import Runtime

_LISTED = 20


def nothing_to_test(state: RunState) -> bool:
    """Whether RED needs no model: no requirement asks for a test, and the user gave neither tests nor examples.

    What only guards (a refactoring, a removal) still gets its guards where it speaks of code.
    """
    spec = state.artifacts.get("spec", {})
    if state.tests or state.profile or not by_inspection_alone(spec):
        return False
    if texts(state.artifacts.get("intake", {}).get("examples")):
        return False
    return action_of(state) not in GUARDING or not any(language_of(path) for path in named_files(spec))


def must_be_inert(state: RunState) -> bool:
    """Whether nothing but the measured inertness of the change can show that it needed no test."""
    kinds = [str(row.get("kind") or "target") for row in items(state.facts.get("red", {}).get("tests"))]
    spec = state.artifacts.get("spec", {})
    return not state.profile and needs_inertness(spec, kinds=kinds, action=action_of(state))


def inert_facts(state: RunState, runtime: Runtime, *, tree: str, own: list[str]) -> dict[str, object]:
    """Measure whether the change of a tree alters anything that runs.

    Args:
        own: files of the accepted suite, which do not count.
    Returns:
        {inert: {passed, kinds, words, files, changes: [text]}}, with belongs_to rows for SPEC where it does not pass.
    """
    from agentforge.runners.inertness import inertness

    base, read = state.trees["baseline"], runtime.rig().read
    changed = [one for one in runtime.git.changed(base, tree) if one.path not in own]
    found = inertness(
        changed,
        before=read(base),
        after=read(tree),
        files=runtime.git.list_files(tree),
        mentions=_mentions(runtime, tree),
    )
    told = [one.text for one in found.differences]
    fact = {
        "passed": not told,
        "kinds": list(found.kinds),
        "words": found.words,
        "files": len(changed),
        "changes": told[:_LISTED],
    }
    rows = [
        {
            "stage": "spec",
            "rule": "inspection-inert",
            "path": one.path,
            "message": f"{one.text}. What runs otherwise is verified by tests: give the requirement the "
            "verification_method test with criteria that a test can assert, or say that this file stays as it is",
        }
        for one in found.differences[:_LISTED]
    ]
    return {"inert": fact, **({"belongs_to": rows} if rows else {})}


def inert_words(state: RunState) -> str:
    """`documentation only: nothing that runs was changed (measured)`; "" where that was not measured or does not hold."""
    fact = judged(state.facts, {}).get("inert")
    if not isinstance(fact, dict) or fact.get("passed") is not True:
        return ""
    return f"{fact.get('words')}: nothing that runs was changed (measured)"


def unneeded(note: str) -> dict[str, object]:
    """The facts about the strength of tests where there is nothing for tests to run."""
    told: Json = {"measured": False, "note": note}
    return {"coverage": dict(told), "mutation": dict(told)}


def _mentions(runtime: Runtime, tree: str) -> Callable[[str], list[str]]:
    def mentions(word: str) -> list[str]:
        done = runtime.git.command.run("grep", "-l", "-z", "-I", "-F", "-e", word, tree, "--")
        found = os.fsdecode(done.output).split("\0")
        return [one.removeprefix(f"{tree}:") for one in found if one]

    return mentions
