"""`.env` files: the one of a trusted project, then the one of the user's configuration folder; the environment wins."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agentforge.config.paths import config_dir, project_tops
from agentforge.config.trust import trusted
from agentforge.errors import ConfigError

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"


_OF_MODELS = r"(?:[A-Z0-9]+_)?(?:API_KEY|BASE_URL)"
"""Variables that hold a key or an address of a model."""
_OWN = ("AGENTFORGE_", "_AGENTFORGE_", "XDG_", "HOME=", "PATH=")
"""Beginnings of variables that say where and how AgentForge itself works: no project sets them."""


def merged_environment(environ: Mapping[str, str], *, cwd: Path | None = None) -> dict[str, str]:
    """Return the environment, completed from `.env` files; what is set already wins.

    Args:
        cwd: where the work happens: its `.env` and that of the project's top are read once they are trusted.
    Raises:
        ConfigError: a line of the user's file that is no `NAME=value`.
        StorageError: the record of trust cannot be read.
    """
    own = _own_file(environ)
    return {**own, **(_of_project(cwd, environ) if cwd is not None else {}), **environ}


def _of_project(cwd: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What the project's files set; such a file belongs to the project's own program, so odd lines of it are passed over."""
    values: dict[str, str] = {}
    for path in _project_files(cwd, environ):
        if _is_trusted(path.parent, environ):
            values = {**_sets(path), **values}
    return values


def untrusted_files(cwd: Path, environ: Mapping[str, str]) -> list[tuple[Path, tuple[str, ...]]]:
    """The project's files that are not read, because nobody trusts them, and that say which model answers or hold its key.

    Returns:
        Each with the names of such variables that are not set without it; never a value.
    """
    found = []
    for path in _project_files(cwd, environ):
        names = tuple(name for name in _sets(path) if re.fullmatch(_OF_MODELS, name) and not environ.get(name))
        if names and not _is_trusted(path.parent, environ):
            found.append((path, names))
    return found


def _project_files(cwd: Path, environ: Mapping[str, str]) -> list[Path]:
    """The `.env` of the folder, then those of the projects around it, the innermost first."""
    folders = dict.fromkeys((cwd.resolve(), *reversed(project_tops(cwd, environ))))
    return [folder / ".env" for folder in folders if (folder / ".env").is_file()]


def _sets(path: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8-sig", errors="replace").splitlines():
        with suppress(ConfigError):
            found = parse(line, source=str(path))
            values = {**{name: text for name, text in found.items() if not f"{name}=".startswith(_OWN)}, **values}
    return values


def _is_trusted(folder: Path, environ: Mapping[str, str]) -> bool:
    return trusted(folder, environ, kinds={"environment"}).holds({"environment"})


def _own_file(environ: Mapping[str, str]) -> dict[str, str]:
    path = config_dir(environ) / ".env"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path} cannot be read: {exc}", hint="check the file") from exc
    return parse(text, source=str(path))


def parse(text: str, *, source: str) -> dict[str, str]:
    """Read `NAME=value` lines: comments, an `export` in front and shell quotes are understood; nothing is expanded.

    Raises:
        ConfigError: names the file and the line, never the value.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.removeprefix("export ").partition("=")
        if not equals or not re.fullmatch(_NAME, name.strip()):
            raise ConfigError(f"{source}:{number} is not NAME=value", hint="correct the line or remove it")
        try:
            values[name.strip()] = "".join(shlex.split(value, comments=True)[:1])
        except ValueError as exc:
            raise ConfigError(f"{source}:{number}: {name.strip()}: {exc}", hint="close the quotes") from exc
    return values
