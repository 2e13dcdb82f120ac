"""The page that lists the catalogue: docs/cheats.md, generated from the cases."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.evals.cheat_case import CheatCase, case_names, load_case
from agentforge.evals.switched_off import Measured, measured_detectors

_HEAD = """# The catalogue of cheats

Generated from `src/agentforge/evals/cheats/` by `make golden`; a test compares it. Every trick is played through the whole
pipeline and must be refused by one of the rules that its case names; its honest twin, the nearest thing that an honest model
would do, must be delivered, and the tests of the delivered branch must pass in a plain checkout. `agentforge eval cheats` plays
all of them, `make test-all` does too and ends with the same line.

## Adding one

Write a file `src/agentforge/evals/cheats/NAME.yaml`; nothing is registered. It says `title`, `class`, `trick` and `twin` (a
sentence each), `stage`, and `refused_by`: rule ids, or the question to a human in which the trick ends (question-not-done,
question-broken-example). Optional are `base` (a file of `src/agentforge/evals/bases/`, or `nothing`; without it `textkit`) and
`request`. Below `files` stands each path with its text:

    repository/...   files over those of the base's repository
    history/1/...    an older commit, laid over the repository; then history/2/...
    answers/...      what both sides answer where it differs from the base's answers
    trick/, twin/    what one side answers

Answers of a stage: `STAGE.yaml` is the draft, or the parts of it that differ; the files below `STAGE/` are written at their
paths; `STAGE.calls.yaml` holds tool calls that come first. What a case does not say comes from the layer below: the base
gives a request, an honest way, and for tricks an implementation that is wrong. `agentforge eval cheats NAME` plays one.
"""

_ALONE = """
## What each detector refuses alone

Most of what refuses a trick is executed: the suite, held-out checks, repeated calls, wrong bodies, mutants, executed lines. Some
detectors read sources. `agentforge eval cheats --without DETECTOR` switches one off and plays the tricks in whose refusal it had
a part; those that end without a refusal need it. A detector that no trick needs is removed, with its word lists.

| detector | finds in new code | tricks it had a part in | refused by nothing else | since |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the whole page."""
    cases = [load_case(name) for name in case_names()]
    kinds = sorted({case.kind for case in cases})
    return (
        _HEAD + _detectors() + "".join(_section(kind, [case for case in cases if case.kind == kind]) for kind in kinds)
    )


def _detectors() -> str:
    return _ALONE + "".join(_row(name, one) for name, one in measured_detectors().items())


def _row(name: str, one: Measured) -> str:
    alone = ", ".join(f"`{trick}`" for trick in one.alone) or "none"
    return f"| {name} | {one.finds} | {len(one.tried)} | {alone} | {one.since} |\n"


def _section(kind: str, cases: Sequence[CheatCase]) -> str:
    rows = "".join(
        f"| `{case.name}` | {case.trick} | {case.twin} | {case.stage} | {', '.join(case.refused_by)} |\n"
        for case in cases
    )
    return (
        f"\n## {kind[:1].upper()}{kind[1:]}\n\n| cheat | trick | honest twin | stage | refused by one of |\n"
        f"|---|---|---|---|---|\n{rows}"
    )
