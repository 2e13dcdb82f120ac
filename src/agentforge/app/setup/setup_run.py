"""What `agentforge init` and `doctor --fix` write: settings, the key file, folders. Existing files are kept and completed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentforge.config.edits import home_of, set_values
from agentforge.config.paths import config_dir, data_dir
from agentforge.errors import StorageError, UsageError, remedy_of
from agentforge.frozen import dataclass
from agentforge.models import PROVIDERS
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
    """Write what was chosen, all of it or nothing.

    Returns:
        The files that were written.
    Raises:
        UsageError: no such provider; or it has no model that is meant without a name, or no address.
        ConfigError: an existing settings file is broken; it is not touched.
        StorageError: a file cannot be written; those before it are as they were.
    Side effects: settings, the user's key file (0600), the project's `.agentforge/.gitignore`.
    """
    values = _values(setup, environ)
    if setup.project is None:
        private_folder(config_dir(environ))
    homes = [(_home(setup, key, environ), key, value) for key, value in values.items()]
    written = list(dict.fromkeys(home for home, _, value in homes if value is not None or home.exists()))
    variable = PROVIDERS[setup.provider].key or "API_KEY"
    with _all_or_nothing([*written, config_dir(environ) / ".env"]):
        for file in written:
            set_values(
                file, {key: value for home, key, value in homes if home == file}, project=setup.project is not None
            )
        if setup.project is not None:
            written.append(ensure_agentforge_folder(setup.project) / ".gitignore")
        if setup.key:
            written.append(write_key(variable, setup.key, environ))
    return tuple(written)


def _values(setup: Setup, environ: Mapping[str, str]) -> dict[str, str | None]:
    """The settings of a choice; what an earlier choice left and this one does not have is taken out."""
    facts = PROVIDERS.get(setup.provider)
    if facts is None:
        raise UsageError(f"there is no provider {setup.provider!r}", hint="one of " + ", ".join(PROVIDERS))
    name = setup.model or facts.name
    if not name:
        raise UsageError(f"{setup.provider} needs the name of a model", hint="pass --model NAME")
    if setup.provider == "custom" and not (setup.base_url or environ.get("BASE_URL")):
        raise UsageError("custom needs the address of its server", hint="pass --base-url URL, or set BASE_URL")
    return {"model.provider": setup.provider, "model.name": name, "model.base_url": setup.base_url or None}


def _home(setup: Setup, key: str, environ: Mapping[str, str]) -> Path:
    return config_dir(environ) / "config.toml" if setup.project is None else home_of(setup.project, key)


@contextmanager
def _all_or_nothing(files: list[Path]) -> Iterator[None]:
    """Put files back as they were when what is done meanwhile fails or is broken off."""
    before = {file: file.read_bytes() if file.is_file() else None for file in files}
    try:
        yield
    except BaseException:
        for file, data in before.items():
            if data is None:
                file.unlink(missing_ok=True)
            elif file.read_bytes() != data:
                file.write_bytes(data)
        raise


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
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write("\n".join([*kept, f"{variable}={quoted}", ""]))
        file.chmod(0o600)
    except OSError as exc:
        raise StorageError(
            f"{file} cannot be written: {exc.strerror}", hint=remedy_of(exc) or "check its permissions"
        ) from exc
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
