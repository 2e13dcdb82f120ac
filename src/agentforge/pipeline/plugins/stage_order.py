"""Stages that a project, a person or a package adds: where they stand, what a run records of them, what they must be. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from agentforge.contracts.contract import FIX_STAGE_OF, SPLIT_STAGE_OF, STAGE_OF
from agentforge.contracts.nearest import near_hint
from agentforge.errors import ConfigError
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import ACTIONS, CHANGING, Json, Stage, needs_no_model, texts
from agentforge.pipeline.stages import load_stages, placed

FIRST_WRITER, JUDGE = "green", "refactor"
"""A stage that writes stands behind the first and before the second, which measures the whole tree once more."""

_NAME = re.compile(r"[a-z][a-z0-9_]{1,31}")
_FACTS = ("baseline", "impact", "places", "work")
_OTHERS = ("fix", "small", "split", "design", "tests", "code", "commit", "chosen", "task", "chat", "turn", "grade")
RESERVED = frozenset({*STAGE_OF.values(), *FIX_STAGE_OF.values(), *SPLIT_STAGE_OF.values(), *_FACTS, *_OTHERS})
"""Names that mean something else already: stages of all workflows, their aliases, what is measured between stages."""


def row_of(stage: Stage, *, source: str, digest: str) -> dict[str, object]:
    """What the first record of a run holds of a stage."""
    return {
        "name": stage.name,
        "after": stage.after,
        "writes": stage.writes,
        "files": list(stage.files),
        "source": source,
        "digest": digest,
    }


def names_of(state: RunState) -> tuple[str, ...]:
    """The stages of a run in their order, as its records say."""
    order = tuple(load_stages(state.brief.workflow))
    return placed(order, rows_placed(state.brief.added)) if state.brief.added else order


def rows_placed(rows: Iterable[Json]) -> list[tuple[str, str]]:
    """Name and place of recorded stages."""
    return [(str(row.get("name")), str(row.get("after"))) for row in rows]


def recorded_stage(row: Json) -> Stage:
    """As much of a stage as its record tells: enough to measure again, not to make its artifact."""
    return Stage(
        name=str(row.get("name")),
        produces="",
        consumes=(),
        purpose="",
        after=str(row.get("after")),
        writes="product" if row.get("writes") == "product" else "none",
        files=tuple(texts(row.get("files"))),
    )


def writers(state: RunState) -> tuple[str, ...]:
    """The added stages that may write, in their order."""
    writing = {str(row.get("name")) for row in state.brief.added if row.get("writes") == "product"}
    return tuple(name for name in names_of(state) if name in writing) if writing else ()


def last_measured(state: RunState) -> str:
    """The stage whose measurement of the whole tree is the latest behind the current one."""
    behind = [
        name
        for name in (FIRST_WRITER, *writers(state))
        if name != state.progress.stage
        and name in state.work.trees
        and state.progress.stages[name].status == "verified"
    ]
    return behind[-1] if behind else FIRST_WRITER


def written_files(state: RunState) -> tuple[str, ...]:
    """Patterns of what the added stages that had their turn may have written beside the files of the specification."""
    rows = {str(row.get("name")): row for row in state.brief.added}
    return tuple(
        pattern
        for name in writers(state)
        if name in state.progress.stages
        for pattern in texts(rows[name].get("files"))
    )


def check_stages(
    stages: Mapping[str, tuple[Stage, str]], *, order: Sequence[str], tools: Collection[str], contracts: Collection[str]
) -> None:
    """Refuse stages that could not do their work, or that would go round the verification.

    Args:
        stages: the added ones by name, each with where it comes from.
        order: the stages of the house.
        tools: names of all tools; contracts: names of all contracts.
    Raises:
        ConfigError: names the file and what is wrong.
    """
    for name, (stage, source) in stages.items():
        _refuse(_wrong_name(name, stage) or _wrong_kind(stage), source)
    names = placed(order, [(name, stage.after) for name, (stage, _) in stages.items()])
    made: dict[str, str] = {}
    for name in names:
        if name in stages:
            stage, source = stages[name]
            before = names[: names.index(name)]
            _refuse(_wrong_links(stage, before, names) or _wrong_tools(stage, tools), source)
            _refuse(_wrong_contract(stage, contracts, made), source)
            made[stage.produces] = source


def _refuse(wrong: tuple[str, str] | None, source: str) -> None:
    if wrong is not None:
        raise ConfigError(f"{source}: {wrong[0]}", hint=wrong[1])


def _wrong_name(name: str, stage: Stage) -> tuple[str, str] | None:
    if stage.name != name:
        return f"the stage is called {stage.name!r}", f'a stage is called like its file: name="{name}"'
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name for a stage", "small letters, digits and _, at most 32"
    if name in RESERVED:
        return f"{name!r} is a name of agentforge's own", "rename the file and the stage"
    return None


def _wrong_kind(stage: Stage) -> tuple[str, str] | None:
    if not stage.after:
        return "it does not say behind which stage it stands", 'write after="spec", or another stage'
    if not stage.purpose.strip():
        return "it has no purpose", 'write purpose="..." in one line'
    if not stage.prompt.strip() and stage.needs_model is not needs_no_model:
        return "it has no prompt", 'write prompt="..."; or needs_model=needs_no_model where no model is asked'
    unknown = [action for action in stage.actions if action not in ACTIONS]
    if unknown or not stage.actions:
        return f"actions: {', '.join(unknown) or 'none'}", "of " + ", ".join(ACTIONS)
    if stage.writes not in ("none", "product"):
        return f"writes={stage.writes!r}", 'a stage writes "none" or "product"; tests are written by red alone'
    if stage.writes == "product" and not set(stage.actions) <= set(CHANGING):
        return "it writes, and a request that only analyzes changes nothing", "actions: of " + ", ".join(CHANGING)
    if stage.files and stage.writes != "product":
        return "it names files and writes none", 'write writes="product", or leave files away'
    return None


def _wrong_links(stage: Stage, before: Sequence[str], names: Sequence[str]) -> tuple[str, str] | None:
    missing = [
        name for name in (*stage.consumes, *([stage.rejected_to] if stage.rejected_to else [])) if name not in before
    ]
    if missing:
        return f"{', '.join(missing)} does not stand before it", f"before it stand {', '.join(before)}"
    early = [name for name in stage.shown_to if name not in names or name in (*before, stage.name)]
    if early:
        later = ", ".join(names[len(before) + 1 :])
        return f"shown_to: {', '.join(early)} does not stand behind it", f"behind it stand {later}"
    if stage.writes == "product" and (FIRST_WRITER not in before or JUDGE in before):
        where = ", ".join(names[names.index(FIRST_WRITER) : names.index(JUDGE)])
        return "a stage that writes stands between green and refactor", f"after: one of {where}"
    return None


def _wrong_tools(stage: Stage, tools: Collection[str]) -> tuple[str, str] | None:
    unknown = [name for name in stage.tools if name not in tools]
    if unknown:
        return f"there is no tool {unknown[0]!r}", near_hint(unknown[0], sorted(tools))
    if "submit_artifact" not in stage.tools:
        return "it could not hand in its artifact", 'add "submit_artifact" to its tools'
    return None


def _wrong_contract(stage: Stage, contracts: Collection[str], made: Mapping[str, str]) -> tuple[str, str] | None:
    builtin = {*STAGE_OF, *FIX_STAGE_OF, *SPLIT_STAGE_OF}
    if stage.produces in builtin:
        return f"{stage.produces} is what another stage produces", "give it a contract of its own"
    if stage.produces in made:
        return f"{stage.produces} is what {made[stage.produces]} produces", "give each a contract of its own"
    if stage.produces not in contracts:
        own = sorted(set(contracts) - builtin)
        near = f"; {near_hint(stage.produces, own)}" if own else ""
        return f"there is no contract {stage.produces!r}", f"write .agentforge/contracts/{stage.produces}.yaml{near}"
    return None
