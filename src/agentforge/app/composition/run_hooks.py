"""The hooks of a run: which of the settings' hooks hold, and how one is run in the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.config.paths import config_dir, home_dir
from agentforge.config.settings import Settings
from agentforge.config.sources import Layer
from agentforge.errors import ToolchainError
from agentforge.events.state.run_state import RunState
from agentforge.hooks import PROJECT, Hook, HookEngine, output_limit, read_hook
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Box, Sandbox

if TYPE_CHECKING:
    pass

_UNTRUSTED = "the project is not trusted; copy the hook into your own settings to have it run"


def hook_engine(
    state: RunState,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    sandbox: Sandbox,
    secrets: tuple[str, ...],
    trusted: bool = False,
) -> HookEngine | None:
    """Make the engine of a run; None when no layer holds a hook that is switched on.

    The hooks of all layers add up: a project cannot take away the user's, nor switch them off.

    Args:
        trusted: the user trusts the project as it stands; without that its hooks are named and not run.
    Raises:
        ConfigError: a hook that cannot be read.
    """
    own_on = _switched_on(layer for layer in settings.layers if not layer.project)
    any_on = settings.flag("hooks_enabled")
    layers = [layer for layer in settings.layers if layer.values.get("hooks") and (any_on if layer.project else own_on)]
    if not layers:
        return None

    found = [(layer, hook) for layer in layers for hook in _hooks_of(layer, environ)]
    return HookEngine(
        [hook for layer, hook in found if trusted or not layer.project],
        _runner(state, sandbox=sandbox, environ=environ),
        session={
            "session_id": state.identity.run_id,
            "cwd": state.identity.repo,
            "permission_mode": settings.text("approval"),
        },
        secrets=secrets,
        not_run=tuple((hook, _UNTRUSTED) for layer, hook in found if layer.project and not trusted),
    )


def _switched_on(layers: object) -> bool:
    words = [layer.values["hooks_enabled"] for layer in cast("list[Layer]", layers) if "hooks_enabled" in layer.values]
    return bool(words and words[-1])


def _hooks_of(layer: Layer, environ: Mapping[str, str]) -> list[Hook]:
    folder = Path(layer.name).parent
    while layer.project and folder.name != ".agentforge" and folder != folder.parent:
        folder = folder.parent
    folder = folder.parent if layer.project else folder
    rows = cast("list[Mapping[str, object]]", layer.values["hooks"])
    origin = layer.place(("hooks",))
    read = [read_hook(row, origin=origin, folder=folder, home=home_dir(environ)) for row in rows]
    return [hook for hook in read if hook is not None]


def _runner(
    state: RunState, *, sandbox: Sandbox, environ: Mapping[str, str]
) -> Callable[[Hook, Mapping[str, str], bytes], Completed]:
    repo, worktree, own = Path(state.identity.repo), Path(state.identity.worktree), config_dir(environ) / "hooks"

    def run(hook: Hook, env: Mapping[str, str], stdin: bytes) -> Completed:
        _refuse_missing(hook)
        shown = (*hook.files, *((own,) if own.is_dir() else ()))
        workspace = worktree if worktree.is_dir() else repo  # the first request may fail before there is one
        writes = (repo / path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path for path in hook.writes)
        box = Box(
            workspace=workspace,
            mount_at=repo,
            writable=False,
            network=hook.network,
            env=env,
            read_only=tuple(path for path in shown if path.exists() and not path.is_relative_to(repo)),
            writable_paths=tuple(path for path in writes if _source(path, repo, workspace).exists()),
            overlays=tuple((path, path) for path in hook.files if path.is_file() and path.is_relative_to(repo)),
        )
        return sandbox.run(
            hook.argv,
            box=box,
            timeout_s=hook.timeout_s,
            output_limit_bytes=output_limit(),
            stdin=stdin,
            merge_stderr=False,
        )

    return run


def _source(path: Path, repo: Path, workspace: Path) -> Path:
    """Where a path of the box lies on this machine."""
    return workspace / path.relative_to(repo) if path.is_relative_to(repo) else path


def _refuse_missing(hook: Hook) -> None:
    """Say plainly what is wrong with a script, before the sandbox says it in its own words.

    Raises:
        ToolchainError: it does not exist, or cannot be executed.
    """
    import os

    script = Path(hook.argv[0])
    if not script.is_absolute():
        return
    if not script.is_file():
        raise ToolchainError(f"there is no file {script}", hint="correct the hook's script")
    if not os.access(script, os.X_OK):
        raise ToolchainError(f"{script} is not executable", hint=f"chmod +x {script}")
