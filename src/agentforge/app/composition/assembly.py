"""From settings and a run's first record to a Runtime: every part is made here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.composition.project import Project
from agentforge.app.composition.run_hooks import hook_engine
from agentforge.app.composition.run_inputs import CHECKOUTS, scratch_of
from agentforge.app.proof.keyring import own_signer
from agentforge.app.sessions.approvals import permits_of
from agentforge.app.sessions.instructions import found_instructions, read_instructions
from agentforge.app.tasks.added_stages import contracts_of, stages_of
from agentforge.app.tasks.delivered_trees import with_delivered
from agentforge.app.tasks.dependencies import look_at
from agentforge.app.tasks.external_agents import flag_of, guests_of
from agentforge.app.tasks.workplace import ready_worktree
from agentforge.config.model_choice import choose, choose_fallbacks
from agentforge.config.settings import Settings
from agentforge.config.trust import trusted
from agentforge.context.budget import output_room
from agentforge.events.kinds import Event
from agentforge.events.kinds.dependencies import PartStarted
from agentforge.events.state.run_state import RunState
from agentforge.guest import GuestChoice
from agentforge.hooks import HookEngine
from agentforge.messages import ModelReply
from agentforge.models import (
    Breaker,
    FallbackModel,
    LimitedModel,
    Model,
    RecordedModel,
    ScriptedModel,
    cost_usd,
    open_model,
)
from agentforge.pipeline.model.profile import PROFILES, profile_named
from agentforge.pipeline.model.runtime import Runtime, no_guest
from agentforge.safety.text.redaction import known_secrets
from agentforge.store.log.run_log import RunLog
from agentforge.testing.cache import ResultCache
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import keep
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import Network, Preference, Sandbox, choose as choose_sandbox

if TYPE_CHECKING:
    from agentforge.suite import Rig

_LEAST_STEP_TOKENS = 4000
"""A step that is smaller shows nothing of the code: a model with a smaller window refuses it, and says so."""
_STAGE_OUTPUT_TOKENS = 16_000


class Models:
    """The models of a run, opened when a stage first asks for its own and closed together."""

    def __init__(
        self,
        *,
        settings: Settings,
        environ: Mapping[str, str],
        flag: str | None,
        limiter: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.environ = environ
        self.flag = flag
        self.limiter = limiter
        self._open: dict[str, Model] = {}

    def of_stage(self, stage: str) -> Model:
        """The model of a stage: its own setting, else the run's, with the fallback chain behind it.

        Raises:
            ModelNotConfigured: none was chosen and none was found.
        """
        first = choose(self.settings, self.environ, flag=flag_of(self.settings, stage, self.flag), stage=stage or None)
        key = f"{first.provider}/{first.name}"
        if key not in self._open:
            others = choose_fallbacks(self.settings, self.environ, first=first)
            self._open[key] = self._chained(
                [self._limited(open_model(spec), spec.provider) for spec in (first, *others)]
            )
        return self._open[key]

    def answers(self, stage: str) -> bool:
        """Whether the model of a stage can answer there: a script or a recording that has nothing for it cannot."""
        spec = choose(self.settings, self.environ, flag=flag_of(self.settings, stage, self.flag), stage=stage)
        if spec.provider not in ("scripted", "recorded"):
            return True
        model = open_model(spec)
        return not isinstance(model, ScriptedModel | RecordedModel) or stage in model.stages

    def profile(self) -> str:
        """The road that the run's model is for: "small", else "".

        Raises:
            ModelNotConfigured: none was chosen and none was found.
        """
        return profile_named(choose(self.settings, self.environ, flag=self.flag).profile)

    def limits(self, profile: str) -> dict[str, int | float | None]:
        """The limits of the settings, and those of the profile where they name none."""
        row = PROFILES[profile]
        few = {"attempts": row.attempts, "stage_steps": row.stage_steps}
        unset = {
            name: value for name, value in few.items() if value and self.settings.origin(f"limits.{name}") == "default"
        }
        return {**self.settings.limits(), **unset}

    def grade(self) -> dict[str, object]:
        """What the run's model has shown on this machine; it is graded now where that was never done and is wanted."""
        from agentforge.app.models.grade import first_grade

        spec = choose(self.settings, self.environ, flag=self.flag)
        return first_grade(spec, settings=self.settings, environ=self.environ)

    def _limited(self, model: Model, provider: str) -> Model:
        if self.limiter is None:
            return model

        return LimitedModel(model, provider, self.limiter)

    def _chained(self, models: list[Model]) -> Model:
        if len(models) == 1:
            return models[0]

        return FallbackModel(models, Breaker())

    def close(self) -> None:
        """Close connections."""
        for model in self._open.values():
            close = getattr(model, "close", None)
            if close is not None:
                close()


def wire(
    state: RunState,
    log: RunLog,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    models: Models,
    opened: Git | None = None,
) -> Runtime:
    """Make the runtime of a run.

    Args:
        opened: the run's repository where it is open already.
    Raises:
        SandboxError: no sandbox, and the settings do not switch it off.
        ConfigError, ContractInvalid: files of the user's are wrong.
    """
    stages = stages_of(state, settings=settings, environ=environ)
    repo, worktree = Path(state.identity.repo), Path(state.identity.worktree)
    scratch, git = scratch_of(worktree), opened or Git(repo)
    sandbox, secrets = sandbox_of(settings, hidden=(worktree.parent,)), known_secrets(environ)
    rig = _rig(lambda: log.state, git, sandbox, settings=settings, environ=environ)
    runtime = Runtime(
        repo=repo,
        worktree=worktree,
        scratch=_made(scratch),
        git=git,
        ready=_ready(state, log, lambda: runtime),
        guard=Guard(git, worktree, index=scratch / "index"),
        sandbox=sandbox,
        stages=stages,
        contracts=contracts_of(repo, stages),
        blobs=log.blobs,
        rig=rig,
        models=models.of_stage,
        price=price,
        secrets=secrets,
        checks=settings.table("checks"),
        verification=settings.table("verification"),
        trail=lambda: (log.head, log.length),
        diff=lru_cache(maxsize=8)(git.diff),
        keep=lambda now, tree: _keep(git, now, tree),
        nonce=os.urandom(4).hex(),
        supplied=_supplied(state, log),
        max_output_tokens=output_limit(settings),
        samples=int(settings.number("model.samples")),
        step_tokens=step_limit(settings),
        attempts=_attempts(log.folder, settings, environ),
        permits=permits_of(settings),
        temperature=cast("float | None", settings.get("model.temperature")),
        hooks=hooks_of(state, sandbox, settings=settings, environ=environ, secrets=secrets),
        signer=partial(own_signer, environ),
        guests=_guests(settings, environ),
        look=partial(look_at, environ=environ),
        begin_part=_begin_part(environ),
        instructions=lru_cache(maxsize=1)(lambda: _instructions(repo, settings, environ)),
    )
    return runtime


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _supplied(state: RunState, log: RunLog) -> dict[str, bytes]:
    """The tests that the user handed over, by path."""
    digests = cast("Mapping[str, str]", state.identity.digests.get("tests") or {})
    return {path: log.blobs.get(digest) for path, digest in digests.items()}


def _guests(settings: Settings, environ: Mapping[str, str]) -> Callable[[str], GuestChoice | None]:
    """The agents of other makers that do stages."""
    if not any(isinstance(table, Mapping) and table.get("agent") for table in settings.table("stages").values()):
        return no_guest
    return guests_of(settings, environ)


def _instructions(repo: Path, settings: Settings, environ: Mapping[str, str]) -> str:
    """What the repository's top folder says to agents; nothing before a person trusted it."""
    file = found_instructions(repo)
    if file is None or not Project(repo, settings=settings, environ=environ).holds_file(file):
        return ""
    return read_instructions(file).text


def _attempts(
    folder: Path, settings: Settings, environ: Mapping[str, str]
) -> Callable[[RunState, str], Iterator[Event]]:
    """How independent attempts are made: loaded when some are wanted."""

    def attempts(state: RunState, stage: str) -> Iterator[Event]:
        from agentforge.app.tasks.candidates import run_attempts

        return run_attempts(state, stage, folder=folder, settings=settings, environ=environ)

    return attempts


def _ready(state: RunState, log: RunLog, runtime: Callable[[], Runtime]) -> Callable[[], None]:
    """Make the worktree when it is first needed; a run that waited may start from another commit by then."""

    @lru_cache(maxsize=1)
    def ready() -> None:
        ready_worktree(
            replace(state, identity=replace(state.identity, base_commit=log.state.identity.base_commit)),
            runtime(),
            log.folder,
        )

    return ready


def _keep(git: Git, state: RunState, tree: str) -> None:
    keep(git, state.identity.run_id, tree=tree, base=state.identity.base_commit, when=state.progress.last_at)


def _begin_part(environ: Mapping[str, str]) -> Callable[[str, RunState], PartStarted]:
    """What makes tasks of the parts of a plan: loaded when there is one."""

    def begin(part: str, state: RunState) -> PartStarted:
        from agentforge.app.tasks.split_runs import begin_part

        return begin_part(part, state, environ=environ)

    return begin


def sandbox_of(settings: Settings, *, hidden: tuple[Path, ...], environ: Mapping[str, str] | None = None) -> Sandbox:
    """The sandbox of the settings; no command sees what is hidden: the other tasks.

    Args:
        environ: what commands may see a part of; None = the environment of this process.
    """
    kind = cast("Preference", settings.text("sandbox.kind", "auto"))
    hidden = (*hidden, *settings.folders("sandbox.hidden"))
    return choose_sandbox(kind, environ, network=network_of(settings), hidden=hidden)


def network_of(settings: Settings) -> Network:
    """What commands may reach: "off", "on", or the hosts that the user has listed."""
    value = settings.get("sandbox.network")
    if isinstance(value, list):
        return tuple(str(host) for host in value)
    return "on" if value == "on" else "off"


def price(reply: ModelReply) -> float | None:
    """What a reply cost in USD, None when the price is unknown."""
    return cost_usd(reply.model, reply.usage)


def output_limit(settings: Settings) -> int:
    """A stage writes whole files in one reply: the default is larger than a chat turn's, a user's own setting is kept."""
    key = "model.max_output_tokens"
    return _STAGE_OUTPUT_TOKENS if settings.origin(key) == "default" else int(settings.number(key))


def step_limit(settings: Settings) -> int:
    """What a step of a stage may send: what the settings say, as far as the model's window holds it."""
    window, output = int(settings.number("model.context_window")), output_limit(settings)
    held = max(_LEAST_STEP_TOKENS, window - output_room(window=window, output=output))
    return min(int(settings.number("context.step_tokens")), held)


def hooks_of(
    state: RunState, sandbox: Sandbox, *, settings: Settings, environ: Mapping[str, str], secrets: tuple[str, ...]
) -> HookEngine | None:
    """The hooks of a run, None when there are none."""
    trusted = _hooks_are_trusted(Path(state.identity.repo), settings, environ)
    return hook_engine(state, settings=settings, environ=environ, sandbox=sandbox, secrets=secrets, trusted=trusted)


def _hooks_are_trusted(repo: Path, settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether the user agreed to the hooks that the project brings, as they are now."""
    if not any(layer.project and layer.values.get("hooks") for layer in settings.layers):
        return False

    return trusted(repo, environ, kinds={"hook"}).holds({"hook"})


def _rig(
    now: Callable[[], RunState], git: Git, sandbox: Sandbox, *, settings: Settings, environ: Mapping[str, str]
) -> Callable[[], Rig]:
    """How this project's tests are run, found out on first use: what the run waited for has arrived by then."""

    @lru_cache(maxsize=1)
    def rig() -> Rig:
        from agentforge.suite import Rig, detect

        state = now()
        worktree = Path(state.identity.worktree)
        plan = detect(Path(state.identity.repo), settings=settings.table("test"), environ=environ)
        if state.relations.awaited:
            plan = with_delivered(
                plan, state, folder=scratch_of(worktree) / "delivered", mounted=sandbox.kind == "bubblewrap"
            )
        return Rig(
            plan=plan,
            git=git,
            mount_at=Path(state.identity.repo),
            sandbox=sandbox,
            scratch=scratch_of(worktree),
            timeout_s=plan.timeout_s,
            cache=ResultCache(worktree.parent / "results"),
            left=worktree.parent / CHECKOUTS,
        )

    return rig
