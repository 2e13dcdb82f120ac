"""Do the samples that pass the tests say the same beyond them? Asked with inputs near the examples, outside the test runner."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.languages.symbols import Symbol
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.checks.input_neighbours import probes
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit, units_of
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, confirmed_claims
from agentforge.pipeline.small_models.reading.unverified_wishes import calls_with, unshown
from agentforge.pipeline.small_models.refactoring.splices import find_definition
from agentforge.suite import Edits
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import Probe, evaluate, judge, resolve
from agentforge.verification.examples.suite_claims import asserted
from agentforge.verification.examples.typed_comparison import shown

if TYPE_CHECKING:
    pass
    pass

_MOST_NAMED = 4
_SHOWN_OPTIONS = 3
_LONGEST_CALL_S = 10.0
_LONGEST_ANSWER = 1000
_MOST_ASKED = 2
_NAMES = "The request names "


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A call on which passing samples differ, put as a question."""

    call: str
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far passing samples agree.

    Attributes:
        votes, of: samples of the largest group, and of all that pass.
        largest: the texts of that group.
        groups: how many groups there are.
        probes: calls that were compared.
    """

    votes: int
    of: int
    largest: frozenset[str]
    groups: int
    probes: int
    split: Split | None = field(default=None)

    def settled(self, enough: float) -> bool:
        """Whether at least two samples agree, and they are enough of all."""
        return self.votes >= 2 and self.votes / self.of >= enough

    @property
    def told(self) -> str:
        """In words."""
        return f"{self.votes} of {self.of} agree on {self.probes} further calls"


def agreement(state: RunState, runtime: Runtime, unit: Unit, passing: Mapping[str, Sequence[int]]) -> Agreement:
    """Compare what passing samples give for calls that no example settles.

    Args:
        passing: text of the file -> numbers of the samples that say so.
    """
    own = calls_of(state, runtime, unit)
    named = calls_with(own, unshown(state.brief.request, claims_by_unit(state)[unit.name]))
    calls = list(dict.fromkeys([*probes(own), *named[:_MOST_NAMED]]))
    answers = {text: answers_near(state, runtime, unit, text, calls) for text in passing} if len(passing) > 1 else {}
    groups: dict[tuple[str, ...], list[str]] = {}
    for text in passing:
        groups.setdefault(answers.get(text, ()), []).append(text)
    votes = {key: sum(len(passing[text]) for text in texts) for key, texts in groups.items()}
    ranked = sorted(groups, key=lambda key: -votes[key])
    first = ranked[0]
    return Agreement(
        votes=votes[first],
        of=sum(votes.values()),
        largest=frozenset(groups[first]),
        groups=len(groups),
        probes=len(calls),
        split=_split(calls, first, ranked[1], unit) if len(ranked) > 1 else None,
    )


def holds(state: RunState, runtime: Runtime, unit: Unit, text: str) -> str:
    """What a person answered about single calls, checked on a sample; "" when all of it holds."""
    asked = _asked(state, unit)
    if not asked:
        return ""
    found = _evaluated(state, runtime, unit, text, [claim.call for claim in asked])
    wrong = [judge(claim, answer) for claim, answer in zip(asked, found, strict=True)]
    return next((line for line in wrong if line), "")


def is_confirmed(state: RunState, unit: Unit) -> bool:
    """Whether a person said what a call of the unit must give when a sample's answer was put to them."""
    return bool(_asked(state, unit))


def _asked(state: RunState, unit: Unit) -> list[Claim]:
    claims = [claim for claim in confirmed_claims(state) if claim in claims_by_unit(state)[unit.name]]
    return [
        claim
        for claim in claims
        if any(item.context.get("about") == claim.call for item in state.people.escalations.values())
    ]


def only_answer(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """A call near the examples with what the only sample that passes gives for it, as a question; None = it gives nothing."""
    calls = probes(calls_of(state, runtime, unit))
    answers = answers_near(state, runtime, unit, text, calls)
    for call, answer in zip(calls, answers, strict=True):
        if not answer.startswith("raises"):
            question = (
                f"What must {call} give? One sample of {unit.name} passes, none agrees with it, and it gives {answer}."
            )
            return Split(call=call, question=question, options=(answer,))
    return None


def calls_of(state: RunState, runtime: Runtime, unit: Unit) -> list[str]:
    """The calls of a unit that examples and supplied tests make."""
    calls = [claim.call for claim in claims_by_unit(state)[unit.name]]
    if state.brief.tests:
        for path in state.brief.tests:
            calls += [one.call for one in asserted(path, runtime.supplied.get(path, b"")) if unit.last in one.call]
    return list(dict.fromkeys(calls))


def answers_near(state: RunState, runtime: Runtime, unit: Unit, text: str, calls: Sequence[str]) -> tuple[str, ...]:
    """What a sample gives for calls, in words."""
    return tuple(_spoken(answer) for answer in _evaluated(state, runtime, unit, text, calls))


def _spoken(answer: CallResult) -> str:
    if answer.value is not None:
        return shown(answer.value, limit=_LONGEST_ANSWER, alike=True)
    return f"raises {answer.raised[0][0]}" if answer.raised else answer.ended


def _evaluated(state: RunState, runtime: Runtime, unit: Unit, text: str, calls: Sequence[str]) -> list[CallResult]:
    """Each call in a plain process on the workspace with one file replaced."""
    rig, tree = replace(runtime.rig(), timeout_s=_LONGEST_CALL_S), runtime.guard.tree()
    edits: Edits = Edits(files={unit.file: text.encode()})

    def read(path: str) -> bytes | None:
        return text.encode() if path == unit.file else rig.git.show(tree, path)

    symbols = [Symbol(name=one.name, file=one.file, kind=one.kind, change=one.change) for one in units_of(state)]
    names = [resolve(call, symbols, read=read, roots=rig.plan.roots) for call in calls]
    probes = [Probe(source=call, names=found) for call, found in zip(calls, names, strict=True) if found is not None]
    groups = evaluate(rig, tree, [probes], edits=edits) if probes else []
    told = iter(groups[0] if groups else [])
    return [
        next(told, CallResult(ended="never ran")) if found is not None else CallResult(lost=True) for found in names
    ]


def _split(calls: Sequence[str], first: tuple[str, ...], second: tuple[str, ...], unit: Unit) -> Split | None:
    """The first ordinary call on which two groups differ; one that raises in neither is easier to answer."""
    differing = [(call, one, other) for call, one, other in zip(calls, first, second, strict=True) if one != other]
    if not differing:
        return None
    differing.sort(key=lambda row: row[1].startswith("raises") or row[2].startswith("raises"))
    call, one, other = differing[0]
    return Split(
        call=call,
        question=f"What must {call} give? The examples of {unit.name} leave it open: {one} or {other}?",
        options=(one, other)[:_SHOWN_OPTIONS],
    )


def forgotten(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """Something that the request names and neither an example nor the sample does, as a question; None there is none.

    Args:
        text: the unit's file with the chosen sample.
    """
    claims, module = claims_by_unit(state)[unit.name], ast.parse(text)
    node = find_definition(module, unit.name)
    if state.brief.tests or node is None or not claims or not claims_of_request(state.brief.request):
        return None
    taken = named_in(module, node)
    left = [one for one in unshown(state.brief.request, claims) if not any(one in told for told in taken)]
    asked = [item for item in state.people.escalations.values() if item.question.startswith(_NAMES)]
    left = [one for one in left if not any(repr(one) in item.question for item in asked)]
    if not left or len(asked) >= _MOST_ASKED:
        return None
    call = next(iter(calls_with(calls_of(state, runtime, unit), left[:1])), claims[0].call)
    given = answers_near(state, runtime, unit, text, [call])[0]
    question = (
        f"{_NAMES}{left[0]!r}; no example of {unit.name} shows it, and no sample takes it up. What must {call} give? "
        f"The sample gives {given}. An example of your own is an answer, too: {unit.last}(...) -> ..."
    )
    return Split(call=call, question=question, options=(given,))


def named_in(module: ast.Module, node: ast.stmt) -> list[str]:
    """What a definition names: its texts and names, and the texts of the module's constants that it uses."""
    used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    kept: list[ast.AST] = [node]
    for one in module.body:
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        kept += [one for target in targets if isinstance(target, ast.Name) and target.id in used]
    texts = [one for part in kept for one in ast.walk(part)]
    doc = ""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        doc = ast.get_docstring(node, clean=False) or ""
    told = [one.value for one in texts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    numbers = [ast.unparse(one) for one in texts if isinstance(one, ast.UnaryOp)]
    return [*(one for one in told if one != doc), *numbers, *used]
