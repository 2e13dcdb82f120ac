"""The pages that list cases, docs/cheats.md and docs/honest.md, generated from the cases."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.contracts.rules import find_rule
from agentforge.evals.corpus import CheatCase, case_names, honest_names, load_case, load_own
from agentforge.evals.switched_off import SwitchedOffRun, measured_detectors

_CHEATS_HEAD = """# The catalogue of cheats

This page lists every way that we know to look finished without being finished, and the rule that refuses it. AgentForge plays
each trick through the whole pipeline, and one of the rules that its case names must refuse it. Each trick has an honest twin:
the most similar thing that an honest model would do. AgentForge must deliver the twin, and the tests of its branch must pass
in a plain checkout.

`agentforge eval cheats` plays all of them, and so does `make test-all`. `make golden` writes this page from
`src/agentforge/evals/cheats/`.

## Adding one

Write a file `src/agentforge/evals/cheats/NAME.yaml`; you need not register it. `agentforge eval cheats NAME` plays it. It has
these keys:

| key | what it holds |
|---|---|
| `title`, `class` | the name of the case in plain words, and the group in which this page lists it |
| `trick`, `twin` | one sentence each about what the two sides do |
| `stage` | the stage that must refuse the trick |
| `refused_by` | the ids of the rules that may refuse it, or a question (`question-not-done`, `question-broken-example`) |
| `base` (optional) | a file of `src/agentforge/evals/bases/`, or `nothing`; without it `textkit` |
| `request` (optional) | the request, if it is not that of the base |
| `files` | paths with their texts, as follows |

    repository/...   files that replace those of the base's repository, or join them
    history/1/...    files of an older commit of the repository; then history/2/...
    answers/...      what both sides answer, if it differs from the base's answers
    trick/, twin/    what only one side answers

In each of the last three folders, `STAGE.yaml` is the draft of a stage, or the parts of it that differ. The files below
`STAGE/` are written at their paths, and `STAGE.calls.yaml` holds tool calls that come first. Whatever a case leaves out comes
from its base: a request, an honest solution, and a wrong implementation for the tricks.
"""

_ALONE = """
## Which detectors are needed

AgentForge refuses most tricks because of something that it runs: the suite, held-out checks, repeated calls, the new tests with
wrong code, mutants. Some detectors read the source instead. `agentforge eval cheats --without DETECTOR` switches one of them
off and plays the tricks that it helped to refuse. If one of these tricks then gets through, the detector is needed. If no
trick needs a detector, we remove it together with its word lists.

| detector | finds in new code | tricks that it helped to refuse | tricks that nothing else refuses | what became of it |
|---|---|---|---|---|
"""

_MECHANISMS = """
## Which rule refuses which tricks

A case names every rule that may refuse its trick. The last column holds the tricks for which the case names only this rule.

| rule | what must hold | tricks | this rule alone |
|---|---|---|---|
"""


_HONEST_HEAD = """# The honest corpus

To refuse honest work is as bad as to deliver a trick. This page lists ordinary requests, each with the solution of a good
engineer. AgentForge plays them through the whole pipeline, with the real sandbox and real runners. It must deliver each of
them, no stage may refuse one at its first attempt, and the tests of the branch must pass in a plain checkout. When a rule
refuses a case, we change the rule and not the case.

`agentforge eval honest` plays all of them, and `agentforge eval honest NAME...` plays the named ones. With `--twins`, it also
plays the honest twins of the [catalogue of cheats](cheats.md). Exit code 4 means that AgentForge refused something. `make golden`
writes this page from `src/agentforge/evals/honest/`.

## Adding one

Write a file `src/agentforge/evals/honest/NAME.yaml`; you need not register it. It has the keys `title`, `idiom` (the part that
a rule might take for a trick), `action`, `language` and `request`, and perhaps `needs`, the name of a program. Below `files`,
`repository/...` holds the files of the repository, and `answers/...` holds what the honest model answers, as in the
[catalogue of cheats](cheats.md#adding-one).

Some cases also hold a dishonest solution of the same request. `trick/...` holds the answers that differ, the key `class` names
the kind of trick, the key `trick` describes it in a sentence, and `hidden/` holds a test that passes only with the honest
solution. People who had not read the verifier invented these tricks; `python -m bench.unseen` plays both sides.
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
    return f"{_HONEST_HEAD}\nThe corpus holds {len(cases)} cases.\n{_tables(rows, columns)}"


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
