"""The pages that list cases, docs/cheats.md and docs/honest.md, generated from the cases."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.contracts.rules import find_rule
from agentforge.evals.cheat_case import CheatCase, case_names, load_case
from agentforge.evals.honest_case import honest_names, load_own
from agentforge.evals.switched_off import SwitchedOffRun, measured_detectors

_CHEATS_HEAD = """# The catalogue of cheats

This page lists every known way to look finished without being finished, and the rule that refuses it. AgentForge plays each
trick through the whole pipeline: one of the rules that its case names must refuse it. Beside each trick stands an honest
twin, the nearest thing that an honest model would do. The twin must be delivered, and the tests of its branch must pass in a
plain checkout.

`agentforge eval cheats` plays all of them, and so does `make test-all`. `make golden` writes this page from
`src/agentforge/evals/cheats/`.

## Adding one

Write a file `src/agentforge/evals/cheats/NAME.yaml`; you need not register it. It says `title`, `class`, `trick` and `twin`
(a sentence each), `stage`, and `refused_by`: rule ids, or the question to a human in which the trick ends (question-not-done,
question-broken-example). Optional are `base` (a file of `src/agentforge/evals/bases/`, or `nothing`; without it `textkit`)
and `request`. Below `files` stands each path with its text:

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

_MECHANISMS = """
## Which rule refuses which tricks

A case names every rule that may refuse its trick. The last column holds the tricks of which the case names nothing else.

| rule | what must hold | tricks | this rule alone |
|---|---|---|---|
"""


_HONEST_HEAD = """# The honest corpus

A refusal of honest work is as bad as a trick that was delivered. This page lists ordinary requests, each with the solution of
a good engineer. AgentForge plays them through the whole pipeline, with real sandbox and runners: each must be delivered, no
stage may refuse it at the first attempt, and the tests of the branch must pass in a plain checkout. When a rule refuses a
case, we change the rule and not the case.

`agentforge eval honest` plays all of them, `agentforge eval honest NAME...` the named ones; with `--twins` the honest twins
of the [catalogue of cheats](cheats.md) as well. Exit code 4 means that AgentForge refused something. `make golden` writes
this page from `src/agentforge/evals/honest/`.

## Adding one

Write a file `src/agentforge/evals/honest/NAME.yaml`; you need not register it. It says `title`, `idiom` (what of it a rule
might take for a trick), `action`, `language` and `request`; optional is `needs`, a program. Below `files` stand
`repository/...`, the files of the repository, and `answers/...`, what the honest model answers, as in the [catalogue of
cheats](cheats.md#adding-one).

Some cases hold a dishonest solution of the same request beside the honest one: `trick/...` over `answers/...`, its `class` and a
sentence (`trick`), and below `hidden/` a test that passes on the honest side alone. They were invented by people who had not
read the verifier; `python bench/unseen.py` plays both sides.
"""


def cheats_page() -> str:
    """Return the whole docs/cheats.md."""
    cases = [load_case(name) for name in case_names()]
    rows = [(one.kind, (one.trick, one.twin, one.stage, ", ".join(one.refused_by)), one.name) for one in cases]
    return (
        _CHEATS_HEAD
        + _detectors()
        + _mechanisms(cases)
        + _tables(rows, ("cheat", "trick", "honest twin", "stage", "refused by one of"))
    )


def honest_page() -> str:
    """Return the whole docs/honest.md."""
    cases = [load_own(name) for name in honest_names()]
    rows = [(one.action, (one.title, one.idiom, one.language), one.name) for one in cases]
    columns = ("case", "request", "what a rule might take it for", "language")
    return f"{_HONEST_HEAD}\n{len(cases)} cases.\n{_tables(rows, columns)}"


def _detectors() -> str:
    return _ALONE + "".join(_row(name, one) for name, one in measured_detectors().items())


def _mechanisms(cases: Sequence[CheatCase]) -> str:
    """The rules that cases name, those of most tricks first."""
    named: dict[str, list[CheatCase]] = {}
    for case in cases:
        for rule in case.refused_by:
            named.setdefault(rule, []).append(case)
    text = _MECHANISMS
    for rule, tricks in sorted(named.items(), key=lambda row: (-len(row[1]), row[0])):
        alone = ", ".join(f"`{one.name}`" for one in tricks if len(one.refused_by) == 1) or "none"
        sentence = "a human is asked" if rule.startswith("question-") else find_rule(rule, source="cheats").sentence
        text += f"| `{rule}` | {sentence} | {len(tricks)} | {alone} |\n"
    return text


def _row(name: str, one: SwitchedOffRun) -> str:
    alone = ", ".join(f"`{trick}`" for trick in one.alone) or "none"
    return f"| {name} | {one.finds} | {len(one.tried)} | {alone} | {one.since} |\n"


def _tables(rows: Sequence[tuple[str, Sequence[str], str]], columns: Sequence[str]) -> str:
    """A heading and a table for each kind of case; a row is (kind, cells, name)."""
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"
    text = ""
    for kind in sorted({row[0] for row in rows}):
        text += f"\n## {kind[:1].upper()}{kind[1:]}\n\n{head}"
        text += "".join(f"| `{name}` | {' | '.join(cells)} |\n" for of, cells, name in rows if of == kind)
    return text
