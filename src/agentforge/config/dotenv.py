"""The `.env` file of the user's configuration folder. A project's own `.env` is never read: it is not the user's."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from agentforge.config.paths import config_dir
from agentforge.errors import ConfigError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def merged_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment, completed from `<config folder>/.env`; what is set already wins.

    Raises:
        ConfigError: a line that is no `NAME=value`.
    """
    path = config_dir(environ) / ".env"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return dict(environ)
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path} cannot be read: {exc}", hint="check the file") from exc
    return {**parse(text, source=str(path)), **environ}


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
        if not equals or not _NAME.fullmatch(name.strip()):
            raise ConfigError(f"{source}:{number} is not NAME=value", hint="correct the line or remove it")
        try:
            values[name.strip()] = "".join(shlex.split(value, comments=True)[:1])
        except ValueError as exc:
            raise ConfigError(f"{source}:{number}: {name.strip()}: {exc}", hint="close the quotes") from exc
    return values
