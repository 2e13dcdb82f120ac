"""Stages that others wrote: those of a trusted project, the user's own, and those of packages that the settings name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge import toolbox
from agentforge.canonical import digest_value
from agentforge.config.paths import config_dir
from agentforge.frozen import dataclass
from agentforge.pipeline.plugins.stage_order import check_stages, recorded_stage, row_of
from agentforge.pipeline.stages import load_stages

if TYPE_CHECKING:
    from agentforge.config.settings import Settings
    from agentforge.contracts.catalogue import ContractSet
    from agentforge.events.state.run_state import RunState
    from agentforge.pipeline.model.stage import Stage
    from agentforge.pipeline.stages import Stages
    from agentforge.store.log.run_log import RunLog

SETTING = "pipeline.stages"
"""Names the stages of installed packages that take part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A stage from outside, sound as far as can be told without running it.

    Attributes:
        source: the file, or the package, for people.
        content: the text of the file that it stands in.
    """

    stage: Stage
    source: str
    digest: str
    content: bytes

    @property
    def row(self) -> dict[str, object]:
        """What a run records of it."""

        return row_of(self.stage, source=self.source, digest=self.digest)


def added_now(repo: Path | None, *, settings: Settings, environ: Mapping[str, str]) -> tuple[Added, ...]:
    """The stages from outside that a task which begins now has, by name; nothing is loaded where there are none.

    Raises:
        ConfigError: a file that cannot be loaded, holds no sound stage, or has the name of another.
        TrustRequired: a project brings some, and nobody agreed to them.
    """
    if not _any(repo, settings, environ):
        return ()
    from agentforge.app.tasks.stage_sources import load

    found = load(repo, settings=settings, environ=environ)
    _check(found, repo)
    return found


def names_now(repo: Path | None, *, settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The stages of a task that would begin now, in their order.

    Raises:
        ConfigError, TrustRequired: as `added_now`.
    """
    found = added_now(repo, settings=settings, environ=environ)
    return tuple(load_stages(added={one.stage.name: one.stage for one in found}))


def stages_of(state: RunState, *, settings: Settings, environ: Mapping[str, str], changed_too: bool = False) -> Stages:
    """The stages of a run: those of the house, and those from outside that were there when it began.

    Args:
        changed_too: take a stage as it is now, even if it is not the recorded one.
    Raises:
        ConfigError: one of them is gone, or is not what it was.
    """
    if not state.added:
        return load_stages(state.workflow, profile=state.profile)
    from agentforge.app.tasks.stage_sources import load, refuse_other

    repo = Path(state.repo)
    found = {one.stage.name: one for one in load(repo, settings=settings, environ=environ, only=_names(state.added))}
    for row in state.added:
        refuse_other(row, found.get(str(row.get("name"))), state, changed_too=changed_too)
    _check(tuple(found.values()), repo)
    added = {name: one.stage for name, one in found.items()}
    return load_stages(state.workflow, profile=state.profile, added=added)


def taken_now(
    log: RunLog, repo: Path, *, settings: Settings, environ: Mapping[str, str]
) -> tuple[dict[str, object], ...]:
    """The rows of a run's stages from outside as they are now; their texts become blobs of the run.

    Raises:
        ConfigError: one of them is gone, or can no longer do its work.
    """
    from agentforge.app.tasks.stage_sources import load, refuse_other

    state = log.state
    found = load(repo, settings=settings, environ=environ, only=_names(state.added))
    by_name = {one.stage.name: one for one in found}
    for row in state.added:
        refuse_other(row, by_name.get(str(row.get("name"))), state, changed_too=True)
    _check(found, repo)
    for one in found:
        log.blobs.put(one.content)
    return tuple(one.row for one in found)


def stages_by_record(state: RunState) -> Stages:
    """The stages of a run where nobody else's code is run: of those from outside, what the record tells."""

    added = {str(row.get("name")): recorded_stage(row) for row in state.added}
    return load_stages(state.workflow, profile=state.profile, added=added)


def contracts_of(repo: Path, stages: Mapping[str, Stage]) -> ContractSet:
    """The contracts that hold in a repository, with those that stages from outside bring along."""
    from agentforge.config.contract_files import contract_set

    if not getattr(stages, "added", ()):
        return contract_set(repo)
    return contract_set(repo, _carried([stages[name] for name in cast("Stages", stages).added]))


def stages_digest(rows: Sequence[Mapping[str, object]]) -> str:
    """One digest for all stages from outside."""

    return digest_value([{key: row[key] for key in ("name", "after", "digest")} for row in rows])


def _any(repo: Path | None, settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether anybody brings a stage; this much every start looks."""

    if settings.get(SETTING) or (config_dir(environ) / "stages").is_dir():
        return True
    return repo is not None and (repo / ".agentforge" / "stages").is_dir()


def _names(rows: Sequence[Mapping[str, object]]) -> Collection[str]:
    return frozenset(str(row.get("name")) for row in rows)


def _carried(stages: Sequence[Stage]) -> dict[str, str]:
    return {f"stage {stage.name}": stage.contract for stage in stages if stage.contract}


def _check(found: Sequence[Added], repo: Path | None) -> None:
    if not found:
        return
    from agentforge.config.contract_files import contract_set

    contracts = contract_set(repo, _carried([one.stage for one in found]))
    check_stages(
        {one.stage.name: (one.stage, one.source) for one in found},
        order=tuple(load_stages()),
        tools=toolbox.names(),
        contracts=contracts.names,
    )
