"""Where AgentForge keeps its own files outside of any repository. Nothing about a project's `.agentforge` folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.errors import StorageError


def data_dir(environ: Mapping[str, str]) -> Path:
    """Return the folder for worktrees, caches and crash reports.

    Returns:
        `$AGENTFORGE_HOME/data`, else `$XDG_DATA_HOME/agentforge`, else `~/.local/share/agentforge`.
    Raises:
        StorageError: it cannot be made.
    Side effects: makes the folder, readable by its owner alone.
    Source: XDG Base Directory specification 0.8 (a relative value is ignored).
    """
    folder = _place(environ, own="data", variable="XDG_DATA_HOME", fallback=".local/share")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise StorageError(
            f"the data folder {folder} cannot be made: {exc.strerror}", hint="set AGENTFORGE_HOME to a writable folder"
        ) from exc
    return folder


def local_dir(environ: Mapping[str, str]) -> Path:
    """Return the folder of models on this machine and of the servers that answer from them; it need not exist."""
    return _place(environ, own="data", variable="XDG_DATA_HOME", fallback=".local/share") / "local"


def config_dir(environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's own settings; it need not exist.

    Returns:
        `$AGENTFORGE_HOME/config`, else `$XDG_CONFIG_HOME/agentforge`, else `~/.config/agentforge`.
    """
    return _place(environ, own="config", variable="XDG_CONFIG_HOME", fallback=".config")


def home_dir(environ: Mapping[str, str]) -> Path:
    """Return the user's home, from `HOME` when it is set, else from the password database."""
    home = environ.get("HOME", "")
    return Path(home) if home else Path.home()


def project_top(cwd: Path, environ: Mapping[str, str]) -> Path | None:
    """Find the folder whose `.agentforge` holds the project's settings, from `cwd` upwards.

    The walk ends at the repository's top folder, at the user's home, or at the root.
    Returns:
        None when there are no project settings.
    """
    home = home_dir(environ)
    for folder in (cwd, *cwd.parents):
        if folder == home:
            return None
        if any(os.path.lexists(path) for path in project_files(folder)):  # what is no file is told when it is read
            return folder
        if (folder / ".git").exists():
            return None
    return None


def project_tops(cwd: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders from which something of the project is loaded: the repository's top and that of its settings."""
    repo = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), None)
    settings = project_top(cwd, environ)
    return tuple(dict.fromkeys(folder.resolve() for folder in (repo, settings) if folder)) or (cwd,)


def project_files(top: Path) -> tuple[Path, Path]:
    """Name the two files in which a project may keep settings; the first is the one the program writes."""
    return top / ".agentforge" / "config.toml", top / ".agentforge" / "config" / "settings.yaml"


def _place(environ: Mapping[str, str], *, own: str, variable: str, fallback: str) -> Path:
    agentforge_home = environ.get("AGENTFORGE_HOME", "")
    if agentforge_home:
        return Path(agentforge_home).expanduser().absolute() / own
    base = environ.get(variable, "")
    if base.startswith("/"):
        return Path(base) / "agentforge"
    return home_dir(environ) / fallback / "agentforge"
