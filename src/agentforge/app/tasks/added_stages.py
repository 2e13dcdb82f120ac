"""Stages that others wrote: those of a trusted project, the user's own, and those of packages that the settings name.

Finding and loading stages of files and packages; their functions fail with the name of their file, and give what they must.

Their code runs with the rights of AgentForge itself, outside of the sandbox; that is why a project's need trust.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from agentforge import toolbox
from agentforge.canonical import digest_bytes, digest_value
from agentforge.config.contract_files import contract_set
from agentforge.config.paths import config_dir
from agentforge.config.settings import Settings
from agentforge.config.stage_names import PROJECT_FOLDER, stage_files
from agentforge.config.trust import require_trust
from agentforge.contracts.catalogue import ContractSet
from agentforge.errors import ConfigError, ToolchainError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import Stage, StageQuestion
from agentforge.pipeline.plugins.stage_order import check_stages, recorded_stage, row_of
from agentforge.pipeline.stages import Stages, load_stages
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
    if not state.brief.added:
        return load_stages(state.brief.workflow, profile=state.brief.profile)

    repo = Path(state.identity.repo)
    found = {
        one.stage.name: one for one in load(repo, settings=settings, environ=environ, only=_names(state.brief.added))
    }
    for row in state.brief.added:
        refuse_other(row, found.get(str(row.get("name"))), state, changed_too=changed_too)
    _check(tuple(found.values()), repo)
    added = {name: one.stage for name, one in found.items()}
    return load_stages(state.brief.workflow, profile=state.brief.profile, added=added)


def taken_now(
    log: RunLog, repo: Path, *, settings: Settings, environ: Mapping[str, str]
) -> tuple[dict[str, object], ...]:
    """The rows of a run's stages from outside as they are now; their texts become blobs of the run.

    Raises:
        ConfigError: one of them is gone, or can no longer do its work.
    """
    state = log.state
    found = load(repo, settings=settings, environ=environ, only=_names(state.brief.added))
    by_name = {one.stage.name: one for one in found}
    for row in state.brief.added:
        refuse_other(row, by_name.get(str(row.get("name"))), state, changed_too=True)
    _check(found, repo)
    for one in found:
        log.blobs.put(one.content)
    return tuple(one.row for one in found)


def stages_by_record(state: RunState) -> Stages:
    """The stages of a run where nobody else's code is run: of those from outside, what the record tells."""
    added = {str(row.get("name")): recorded_stage(row) for row in state.brief.added}
    return load_stages(state.brief.workflow, profile=state.brief.profile, added=added)


def contracts_of(repo: Path, stages: Mapping[str, Stage]) -> ContractSet:
    """The contracts that hold in a repository, with those that stages from outside bring along."""
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
    contracts = contract_set(repo, _carried([one.stage for one in found]))
    check_stages(
        {one.stage.name: (one.stage, one.source) for one in found},
        order=tuple(load_stages()),
        tools=toolbox.names(),
        contracts=contracts.names,
    )


GROUP = "agentforge.stages"
"""Entry points of packages: the name is the stage's, the value a module's `STAGE`."""
_EXAMPLE = 'write STAGE = Stage(name="NAME", after="spec", ...); see docs/howto/stages.md'


def load(
    repo: Path | None, *, settings: Settings, environ: Mapping[str, str], only: Collection[str] | None = None
) -> tuple[Added, ...]:
    """Load the stages of the project, the user's, and those of packages that the settings name.

    Args:
        only: names of the stages that are wanted; None = all.
    Raises:
        ConfigError: a file that cannot be loaded or holds no stage; two stages of one name.
        TrustRequired: a project brings some, and nobody agreed to them.
    Side effects: runs the files.
    """
    found: dict[str, Added] = {}
    tops = () if repo is None else (repo,)
    files = [file for file in stage_files(tops, environ) if only is None or file.stem in only]
    if repo is not None and any(file.is_relative_to(repo / PROJECT_FOLDER) for file in files):
        require_trust(repo, environ, kinds={"stage"})
    named = [str(name) for name in cast("list[object]", settings.get(SETTING) or [])]
    packages = [name for name in named if only is None or name in only]
    for one in (*(_of_file(file, repo) for file in files), *map(_of_package, packages)):
        name = one.stage.name
        if name in found:
            raise ConfigError(
                f"two stages are called {name!r}: {found[name].source} and {one.source}", hint="rename one of them"
            )
        found[name] = one
    return tuple(found[name] for name in sorted(found))


def refuse_other(row: Mapping[str, object], found: Added | None, state: RunState, *, changed_too: bool) -> None:
    """Refuse to go on with a run whose stage is gone or is another one than when the run began.

    Raises:
        ConfigError: names the stage, the file and what to do.
    """
    name, source = str(row.get("name")), str(row.get("source"))
    if found is None:
        raise ConfigError(
            f"the stage {name} of {state.identity.run_id} is gone: it came from {source}",
            hint=f"put it back as it was; its text: agentforge inspect {state.identity.run_id} --show stages --json",
        )
    if not changed_too and found.digest != row.get("digest"):
        raise ConfigError(
            f"the stage {name} is not what it was when {state.identity.run_id} began: {found.source} has changed",
            hint=f"put it back, or take it as it is now: agentforge resume {state.identity.run_id} --accept-changed-stages",
        )


def _shown(file: Path, repo: Path | None) -> str:
    return file.relative_to(repo).as_posix() if repo is not None and file.is_relative_to(repo) else str(file)


def _of_file(file: Path, repo: Path | None) -> Added:
    """Run the bytes that are digested, and no others.

    Raises:
        ConfigError: the file cannot be read or run.
    """
    source = _shown(file, repo)
    try:
        content = file.read_bytes()
        stage = _run(content, file)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # a stranger's file: also sys.exit, also a broken import
        told = f"{type(exc).__name__}: {exc}"
        raise ConfigError(f"{source} cannot be loaded: {told}", hint="repair or remove it") from exc
    return _added(stage, name=file.stem, source=source, content=content)


def _run(content: bytes, file: Path) -> object:
    module = ModuleType(f"agentforge_stage_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    with redirect_stdout(StringIO()):
        exec(compile(content, str(file), "exec"), vars(module))  # the user agreed to these bytes
    return getattr(module, "STAGE", None)


def _of_package(name: str) -> Added:
    """The stage of an installed package.

    Raises:
        ConfigError: no package brings one of that name, or it cannot be loaded.
    """
    from importlib.metadata import entry_points

    points = list(entry_points(group=GROUP, name=name))
    if not points:
        known = ", ".join(sorted(point.name for point in entry_points(group=GROUP))) or "none"
        raise ConfigError(f"{SETTING}: no installed package brings a stage {name!r}", hint=f"they bring: {known}")
    if len(points) > 1:
        both = " and ".join(point.value for point in points)
        raise ConfigError(f"two packages bring a stage {name!r}: {both}", hint="remove one of them")
    point = points[0]
    owner = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "a package"
    try:
        stage: object = point.load()
        content = Path(str(sys.modules[point.module].__file__)).read_bytes()
    except Exception as exc:  # a stranger's package may fail in any way
        raise ConfigError(f"the stage {name} of {owner} cannot be loaded: {exc}", hint=f"repair {point.value}") from exc
    return _added(stage, name=name, source=f"{owner} ({point.value})", content=content)


def _added(stage: object, *, name: str, source: str, content: bytes) -> Added:
    if not isinstance(stage, Stage):
        kind = "nothing" if stage is None else f"a {type(stage).__name__}"
        raise ConfigError(f"{source} holds no stage: STAGE is {kind}", hint=_EXAMPLE)
    for field in fields(cast("Any", Stage)):
        if field.name in _OF_THE_HOUSE:
            if getattr(stage, field.name) != field.default:
                raise ConfigError(
                    f"{source}: {field.name} is for AgentForge's own stages",
                    hint="leave it out; see docs/howto/stages.md",
                )
        elif not _fits(getattr(stage, field.name), field.name):
            raise ConfigError(
                f"{source}: {field.name} is not a {_kind_of(field.name)}", hint="see docs/howto/stages.md"
            )
    if stage.name != name:
        raise ConfigError(f"{source}: the stage is called {stage.name!r}", hint=f'write name="{name}"')
    return Added(stage=_guarded(stage, source), source=source, digest=digest_bytes(content), content=content)


_LISTS = ("consumes", "criteria", "tools", "omit", "actions", "files", "shown_to", "ahead", "ahead_tools")
_FUNCTIONS = ("complete", "needs_model", "draft", "questions", "goes_ahead")
_SWITCHES = ("keeps_reading",)
_OF_THE_HOUSE = frozenset(
    {
        *("begins_with", "on_passed", "on_stuck", "still_follows", "scope", "shown"),
        *("followed_by", "takes_tests", "asks_of_awaited", "measures_any_shape", "shows_whole_change"),
    }
)
"""Fields that say where AgentForge's own stages differ; a stage from outside has their defaults."""


def _fits(value: object, field: str) -> bool:
    if field in _LISTS:
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return callable(value) if field in _FUNCTIONS else isinstance(value, bool if field in _SWITCHES else str)


def _kind_of(field: str) -> str:
    kinds = {
        **dict.fromkeys(_LISTS, "tuple of texts"),
        **dict.fromkeys(_FUNCTIONS, "function"),
        **dict.fromkeys(_SWITCHES, "bool"),
    }
    return kinds.get(field, "text")


def _guarded(stage: Stage, source: str) -> Stage:
    """The stage with functions that fail as ours do: with what happened to which file."""
    return replace(
        stage,
        complete=_told(stage.complete, source, _is_plain_record),
        draft=_told(stage.draft, source, _is_plain_record),
        questions=_told(stage.questions, source, _is_questions),
        needs_model=_told(stage.needs_model, source, lambda value: isinstance(value, bool)),
    )


def _told(function: Callable[..., Any], source: str, fits: Callable[[object], bool]) -> Callable[..., Any]:
    if str(getattr(function, "__module__", "")).startswith("agentforge."):
        return function  # a default of ours
    name = getattr(function, "__name__", "a function")

    def call(*given: object) -> Any:
        try:
            value = function(*given)
        except Exception as exc:  # a stranger's function may fail in any way
            told = f"{type(exc).__name__}: {exc}"
            raise ToolchainError(f"{source}: {name} failed: {told}", hint=_REPAIR) from exc
        if not fits(value):
            raise ToolchainError(f"{source}: {name} gave {value!r:.200}", hint=_REPAIR)
        return value

    return call


_REPAIR = "repair it, agree to it (agentforge trust), then: agentforge resume ID --accept-changed-stages"


def _is_plain_record(value: object) -> bool:
    """Whether it is a record of JSON values, so that it can be recorded."""
    if not isinstance(value, Mapping):
        return False
    try:
        digest_value(dict(value))
    except (TypeError, ValueError):
        return False
    return True


def _is_questions(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, StageQuestion) for item in value)
