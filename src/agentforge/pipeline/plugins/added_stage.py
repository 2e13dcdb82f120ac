"""How an added stage works: what its model is shown first, which files it may write, and which rules judge what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from agentforge.context.render import render
from agentforge.context.sections import Level, Piece, Section
from agentforge.contracts import dialect
from agentforge.contracts.contract import Contract
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.prompt_text import specification_parts
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import named_files, suite_files
from agentforge.pipeline.model.stage import Stage
from agentforge.pipeline.plugins.stage_order import FIRST_WRITER, JUDGE, last_measured, written_files
from agentforge.pipeline.stages import load_stages
from agentforge.safety.policy.scope import WriteScope
from agentforge.workspace.code.relevance import is_test_path

if TYPE_CHECKING:
    from agentforge.contracts.catalogue import ContractSet


def contract_of(stage: Stage, contracts: ContractSet) -> Contract:
    """The contract that judges a stage; what an added stage writes is judged by all rules of REFACTOR, too."""
    own = contracts.get(stage.produces)
    if not stage.after or stage.writes == "none":
        return own

    judge = contracts.get(load_stages()[JUDGE].produces)
    given = cast("list[object]", own.document.get("validation", []))
    rules = cast("list[object]", judge.document.get("validation", []))
    document = {**own.document, "validation": [*given, *(rule for rule in rules if rule not in given)]}
    return dialect.contract_of(document, source=own.source)


def refusal_of_files(stage: Stage, state: RunState) -> Callable[[str], str | None]:
    """The write scope of an added stage that names files of its own: those, and never a test."""
    scope = WriteScope(allow=stage.files, deny=suite_files(state))

    def refusal(path: str) -> str | None:
        return f"{path} is a test; stage {stage.name} writes none" if is_test_path(path) else scope.refusal(path)

    return refusal


def paths_written(state: RunState, runtime: Runtime, *, tree: str) -> tuple[str, ...]:
    """The changed files that no specification names and that an added stage was free to write."""
    patterns = written_files(state)
    if not patterns:
        return ()
    scope = WriteScope(allow=patterns)
    changed = [item.path for item in runtime.git.changed(state.work.trees["baseline"], tree)]
    return tuple(path for path in changed if not is_test_path(path) and scope.refusal(path) is None)


def gather_added(stage: Stage, state: RunState, runtime: Runtime) -> list[Section]:
    """The request, the artifacts that it consumes, the change so far, and the files that it may write."""
    own = stage.files or named_files(state.work.artifacts.get("spec", {}))
    return [
        Piece(
            name="the request, verbatim", text=state.brief.request, level=Level.LAW, note="a long request is cut here"
        ),
        *(_artifact(name, state) for name in stage.consumes if name in state.work.artifacts),
        Piece(name="the change so far (measured)", text=_change(state, runtime), order=1, foreign=True),
        Piece(
            name="files that you may write", text="\n".join(own) if stage.writes == "product" else "", level=Level.LAW
        ),
    ]


def shown_artifacts(stage: str, state: RunState, runtime: Runtime) -> list[Piece]:
    """The artifacts of added stages that want this one to see them."""
    rows = [runtime.stages[str(row.get("name"))] for row in state.brief.added]
    return [
        Piece(name=f"{one.produces} (binding)", text=render(state.work.artifacts[one.name]), level=Level.LAW)
        for one in rows
        if stage in one.shown_to and one.name in state.work.artifacts
    ]


def _artifact(name: str, state: RunState) -> Piece:
    heading = f"artifact of {name}"
    if name == "spec":
        return Piece(name=heading, text="", parts=specification_parts(state.work.artifacts[name]), level=Level.LAW)
    return Piece(name=heading, text=render(state.work.artifacts[name]))


def _change(state: RunState, runtime: Runtime) -> str:
    """What the run changed up to the last measurement of the whole tree."""
    measured = JUDGE if JUDGE in state.work.trees else last_measured(state)
    base, tree = state.work.trees.get("baseline", ""), state.work.trees.get(measured, "")
    return runtime.diff(base, tree) if FIRST_WRITER in state.work.trees and base and tree else ""
