"""The run goes back to an earlier stage: a human's answer wants it, or a later stage measured what only that one can repair.

A fact `belongs_to` [{stage, rule, path, message}] of a stage's measurement names what an earlier stage has to repair. That stage
is opened again with these findings, once for each fact: the same fact seen again is the measuring stage's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from agentforge.events import kinds
from agentforge.events.fold.revisits import fact_key
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.model.effects import Reopen
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, Stage, items, texts
from agentforge.testing.outcome import file_of, without_parameters

CONTESTED = "contested"
"""The rule of a finding that is a later stage's question about tests."""
EXAMINED = "examined"
"""The rule of a finding that a test from the request alone fails, and that a second reader demands its result."""
_READS = "spec"
"""The stage that says what the words of the request come to."""
_QUESTION, _QUESTIONS = 1500, 2
"""Characters of a question that are told, and how many in a run go to the stage that wrote the tests."""
BELONGS_TO = "belongs_to"
"""The name of the fact."""
REOPENS = "reopens"
"""The name in the context of a question."""


def going_back(state: RunState, order: Sequence[str]) -> Reopen | None:
    """What follows from an answer that opens an earlier stage again; None when there is none, or it was done.

    Args:
        order: the names of all stages.
    """
    for item in state.people.escalations.values():
        answer = item.resolution
        stage = _opened_by(item)
        if answer is None or not stage or item.escalation_id in state.people.went_back:
            continue
        return Reopen(
            stage=stage,
            by=item.stage,
            reason="answered",
            undone=undone_from(state, stage, order),
            answer=f"{item.question} -> {answer.text}",
            escalation_id=item.escalation_id,
        )
    return None


def reopens(stage: str, *, unless: str) -> tuple[str, object]:
    """What a question keeps in its context when every answer but one opens a stage again, the one that asks included."""
    return REOPENS, {"stage": stage, "unless": unless}


def _opened_by(item: Escalation) -> str:
    """The stage that an answer opens again; "" = none."""
    answer, told = item.resolution, item.context.get(REOPENS)
    if answer is None or answer.reopen or not isinstance(told, Mapping):
        return answer.reopen if answer is not None else ""
    return "" if answer.decision == "abort" or answer.text == told.get("unless") else str(told.get("stage", ""))


def sending_back(state: RunState, stages: Mapping[str, Stage]) -> Reopen | None:
    """What follows from a failed verdict over facts that belong to an earlier stage; None when there are none, or they are known.

    Of several stages the first in the order is opened: what follows it is measured again in any case.
    """
    order = tuple(stages)
    rows = [row for row in belonging(state) if fact_key(row) not in state.review.sent_back]
    wanted = [
        name for name in order[: order.index(state.progress.stage)] if any(row.get("stage") == name for row in rows)
    ]
    wanted = [name for name in wanted if name in state.work.artifacts and _can_repair(state, stages[name])]
    if not wanted or state.identity.candidate:
        return None
    return Reopen(
        stage=wanted[0],
        by=state.progress.stage,
        reason="belongs_here",
        findings=tuple({"passed": False, **row} for row in rows if row.get("stage") == wanted[0]),
        undone=undone_from(state, wanted[0], order),
    )


def contesting(state: RunState, stage: Stage, stages: Mapping[str, Stage]) -> Reopen | None:
    """What follows from a question of the model about tests that an earlier stage wrote and that alone refuse its work.

    That stage reads the question first, and what it hands in is measured as ever. It reads of no test a second time, and two
    questions in a run; a human reads the others.
    """
    turn, order = state.progress.turn, tuple(stages)
    call = turn.calls[turn.done] if turn.done < len(turn.calls) and not turn.started else None
    if call is None or call.name != "ask_human" or not stage.contests or state.identity.candidate:
        return None
    asked = " ".join(_question_of(call.arguments).split())
    unread = _demanded_otherwise(state, stage, asked) or _ended_unsaid(state, stage, asked)
    if unread:
        return _opened(state, unread, stage.name, order)
    own = state.work.facts.get(stage.contests, {}).get("frozen")
    measured = state.work.facts.get(stage.name, {})
    blamed = _blamed_tests(measured) or (_named_files(asked, own) if measured else [])
    read = [key for key in state.review.sent_back if key.startswith(f"{stage.contests} {CONTESTED} ")]
    known = {name for key in read for name in blamed if name in key}
    if known or len(read) >= _QUESTIONS or not blamed or not isinstance(own, Mapping):
        return None
    if not {*blamed} <= {*own, *map(file_of, own)}:
        return None
    if not _can_repair(state, stages[stage.contests]):
        return None
    message = (
        f"{stage.name.upper()} finds that {', '.join(blamed)} cannot be satisfied as written, and says: {asked[:_QUESTION]} "
        "Where the specification says otherwise than the test, correct the test; where the test is right, hand it in as it is"
    )
    finding = {
        "passed": False,
        "stage": stage.contests,
        "rule": CONTESTED,
        "path": file_of(blamed[0]),
        "message": message,
    }
    return _opened(state, finding, stage.name, order)


def _demanded_otherwise(state: RunState, stage: Stage, asked: str) -> Json | None:
    """A result that a reader of the request alone demands, and that this stage cannot give beside the tests of an earlier one.

    The tests follow the specification, and where the specification reads the request otherwise, it is written again, once.
    """
    rows = [row for row in state.review.findings if row.get("rule") == EXAMINED]
    known = any(key.startswith(f"{_READS} {EXAMINED} ") for key in state.review.sent_back)
    if not rows or known or _READS not in state.work.artifacts:
        return None
    told = "\n".join(str(row.get("message")) for row in rows)
    message = (
        f"{told}\n{stage.name.upper()} cannot do that beside the tests as they are, and says: {asked[:_QUESTION]} "
        "Where the specification says more than the request or reads it otherwise, correct it; else hand it in as it is"
    )
    return {"passed": False, "stage": _READS, "rule": EXAMINED, "path": "", "message": message}


def _ended_unsaid(state: RunState, stage: Stage, asked: str) -> Json | None:
    """Tests of the base that fail now, and of which a question says that the request changes what they assert.

    Whether it does is for the specification to say, once for each test.
    """
    lost = list(map(without_parameters, texts(state.work.facts.get(stage.name, {}).get("regressions"))))
    named = [one for one in dict.fromkeys(lost) if re.search(rf"(?<!\w){re.escape(_last(one))}(?!\w)", asked)]
    told = [key for key in state.review.sent_back if key.startswith(f"{_READS} {CONTESTED} ")]
    named = [one for one in named if not any(one in key for key in told)]
    if not named or _READS not in state.work.artifacts:
        return None
    message = (
        f"{stage.name.upper()} finds that {', '.join(named)} cannot pass any more, and says: {asked[:_QUESTION]} "
        "Where the request changes what they assert, list them as changed or removed; where it does not, hand it in as it is"
    )
    return {"passed": False, "stage": _READS, "rule": CONTESTED, "path": file_of(named[0]), "message": message}


def _last(nodeid: str) -> str:
    return re.split(r"::| > ", nodeid)[-1]


def _opened(state: RunState, finding: Json, by: str, order: Sequence[str]) -> Reopen:
    """The stage of a finding is opened again with it."""
    stage = str(finding["stage"])
    undone = undone_from(state, stage, order)
    return Reopen(stage=stage, by=by, reason="belongs_here", findings=(finding,), undone=undone)


def _named_files(asked: str, frozen: object) -> list[str]:
    """The files of frozen tests that a question names: what they do to other tests, like being loaded before them, is theirs."""
    files = dict.fromkeys(map(file_of, frozen)) if isinstance(frozen, Mapping) else ()
    return [path for path in files if re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", asked)]


def _question_of(arguments: str) -> str:
    try:
        given = json.loads(arguments)
    except ValueError:
        return ""
    return str(given.get("question") or "") if isinstance(given, Mapping) else ""


def _blamed_tests(facts: Json) -> list[str]:
    """The tests for which alone a change was refused, without their rows; [] where anything else was found as well."""
    suite, held = facts.get("suite"), facts.get("held_out")
    failing = [str(row.get("id")) for row in items(suite.get("failing") if isinstance(suite, Mapping) else ())]
    weak = [str(row.get("id")) for row in items(facts.get("tests_too_weak"))]
    outside = texts(held.get("failed")) if isinstance(held, Mapping) else []
    checks = facts.get("conformance")
    if facts.get("regressions") or facts.get("missing") or not isinstance(checks, Mapping) or not checks.get("passed"):
        return []
    if any(" passes, but outside the test runner " not in row for row in outside):
        return []
    named = (*failing, *texts(facts.get("flaky")), *weak, *(row.partition(" passes, but ")[0] for row in outside))
    return list(dict.fromkeys(map(without_parameters, named)))


def belonging(state: RunState) -> list[Json]:
    """What the current stage measured and an earlier one has to repair."""
    return items(state.work.facts.get(state.progress.stage, {}).get(BELONGS_TO))


def go_back(effect: Reopen, state: RunState, runtime: Runtime) -> Iterator[kinds.Event]:
    """Put the workspace back to where the stage began and record it; done twice it is the same.

    Side effects: files of the worktree.
    """
    left = [name for name in runtime.stages if name not in effect.undone and name in state.work.trees]
    kept = state.work.trees[left[-1]] if left else ""
    tree = kept or state.work.trees.get("baseline", "") or runtime.git.tree_of(state.identity.base_commit)
    work = runtime.guard.tree()
    if work == tree:  # nothing was written, or it was put back already and only the record is missing
        work = state.work.trees.get("work") or tree
    runtime.keep(state, work)
    runtime.guard.put_back(tree)
    yield kinds.StageReopened(
        stage=effect.stage,
        by=effect.by,
        reason=effect.reason,
        findings=tuple(items(effect.findings)),
        undone=effect.undone,
        answer=effect.answer,
        escalation_id=effect.escalation_id,
        tree=tree,
        keep=True,
        work=work,
        lists_apart=True,
    )


def undone_from(state: RunState, stage: str, order: Sequence[str]) -> tuple[str, ...]:
    """The stages that were begun from a stage on: all whose results have to be measured again with it."""
    return tuple(name for name in order[order.index(stage) :] if name in state.progress.stages)


def _can_repair(state: RunState, stage: Stage) -> bool:
    """Tests that the user supplied are verified, never rewritten."""
    return not (stage.takes_tests and state.brief.tests)
