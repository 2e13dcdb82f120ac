"""What `agentforge init` and `doctor --fix` write: settings, the key file, folders. Existing files are kept and completed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from agentforge.config.paths import config_dir, data_dir, project_files
from agentforge.config.writing import set_value
from agentforge.errors import StorageError, UsageError
from agentforge.frozen import dataclass
from agentforge.models.providers import PROVIDERS
from agentforge.store.tasks.folders import ensure_agentforge_folder

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the user chose.

    Attributes:
        provider: a known provider.
        model: its name of the model; "" = the provider's default.
        base_url: "" = the provider's own.
        key: the key as it was typed; "" = none is written (it stands in the environment already, or none is needed).
        project: folder whose settings are written; None = the user's own.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    key: str = ""
    project: Path | None = None


def set_up(setup: Setup, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Write what was chosen.

    Returns:
        The files that were written.
    Raises:
        UsageError: no such provider.
        ConfigError: an existing settings file is broken; it is not touched.
    Side effects: settings, the user's key file (0600), the project's `.agentforge/.gitignore`.
    """
    if setup.provider not in PROVIDERS:
        raise UsageError(f"there is no provider {setup.provider!r}", hint="one of " + ", ".join(PROVIDERS))
    own = setup.project is None
    file = config_dir(environ) / "config.toml" if setup.project is None else project_files(setup.project)[0]
    if own:
        private_folder(config_dir(environ))
    values = {"model.provider": setup.provider, "model.name": setup.model or PROVIDERS[setup.provider].name}
    if setup.base_url:
        values["model.base_url"] = setup.base_url
    for key, value in values.items():
        if value:
            set_value(file, key, value, project=not own)
    written = [file]
    if setup.project is not None:
        written.append(ensure_agentforge_folder(setup.project) / ".gitignore")
    if setup.key:
        written.append(write_key(PROVIDERS[setup.provider].key or "API_KEY", setup.key, environ))
    return tuple(written)


def write_key(variable: str, value: str, environ: Mapping[str, str]) -> Path:
    """Put a key into the user's own `.env`, readable by its owner alone; other lines stay.

    Raises:
        UsageError: not a variable, or a value that no line can hold.
    """
    if not _VARIABLE.fullmatch(variable) or any(ord(sign) < 32 for sign in value):
        raise UsageError(f"{variable}: the key cannot be written", hint="paste it without line breaks")
    folder = config_dir(environ)
    private_folder(folder)
    file = folder / ".env"
    lines = file.read_text("utf-8", "replace").splitlines() if file.exists() else []
    kept = [line for line in lines if not re.match(rf"\s*(export\s+)?{variable}\s*=", line)]
    quoted = value if re.fullmatch(r"[\w.:/+=@-]*", value) else "'" + value.replace("'", "'\"'\"'") + "'"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write("\n".join([*kept, f"{variable}={quoted}", ""]))
    file.chmod(0o600)
    return file


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner reads, or make an existing one so.

    Raises:
        StorageError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as exc:
        raise StorageError(f"{folder} cannot be made: {exc.strerror}", hint="set AGENTFORGE_HOME") from exc


def safe_fixes(folder: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Put right what can be put right without a question: folders, permissions, the project's `.gitignore`.

    Returns:
        What was done, in words.
    """
    done = []
    for place in (config_dir(environ), data_dir(environ)):
        before = place.stat().st_mode & 0o777 if place.is_dir() else None
        private_folder(place)
        if before != 0o700:
            done.append(f"{place} is readable by you alone")
    for secret in (config_dir(environ) / ".env", folder / ".env"):
        if secret.is_file() and secret.stat().st_mode & 0o077:
            secret.chmod(0o600)
            done.append(f"{secret} is readable by you alone")
    own = folder / ".agentforge"
    if own.is_dir() and not (own / ".gitignore").exists():
        ensure_agentforge_folder(folder)
        done.append(f"{own / '.gitignore'} keeps runs out of commits")
    return tuple(done)
