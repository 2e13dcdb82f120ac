"""How errors are shown: `error[slug]: message - hint` on stderr, or the error in the JSON object; never a traceback."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge import __version__
from agentforge.cli.startup.form import Form, result_line, write_json
from agentforge.config.paths import data_dir
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError, StorageError, ToolchainError, UsageError, remedy_of
from agentforge.installation import command_that_brings

if TYPE_CHECKING:
    import click


def report_error(error: AgentForgeError, *, form: Form) -> int:
    """Show an error.

    Returns:
        The error's exit code.
    Side effects: writes to stderr, and to stdout where JSON was asked for.
    """
    if form != "text":
        shown = {"slug": error.slug, "message": error.message, "hint": error.hint}
        write_json(result_line({"outcome": "failed", "error": shown}, form=form), form=form)
    sys.stderr.write(f"error[{error.slug}]: {error}\n")
    return error.exit_code


def report_usage(error: click.UsageError, *, form: Form) -> int:
    """Show what is wrong with the command line, and where its help is."""
    path = error.ctx.command_path if error.ctx is not None else "agentforge"
    names = _commands_of(error.ctx)
    if error.__class__.__name__ == "NoArgsIsHelpError" and names:
        told = UsageError(f"{path} needs a command", hint=f"one of {', '.join(names)}; see `{path} --help`")
        return report_error(told, form=form)
    message = " ".join(error.format_message().split()).rstrip(".").replace("valid integer range", "whole number")
    hint = "" if " - " in message else f"see `{path} --help`"
    return report_error(UsageError(message, hint=hint), form=form)


def _commands_of(context: click.Context | None) -> list[str]:
    """The commands of the group that was called without one."""
    listed = getattr(context.command, "list_commands", None) if context is not None else None
    return list(listed(context)) if listed is not None else []


def report_refused(error: OSError, *, form: Form, environ: Mapping[str, str]) -> int:
    """Show what the system does not let this user read, write or lock, and what to do about it."""
    hint = "look at who owns it, and at its mode" if isinstance(error, PermissionError) else remedy_of(error)
    if not hint:  # nobody foresaw it
        return report_internal(error, form=form, environ=environ)
    place = error.filename if error.filename is not None else "a file of AgentForge"
    return report_error(StorageError(f"{place}: {error.strerror or error}", hint=hint), form=form)


def report_unencodable(error: UnicodeEncodeError, *, form: Form, environ: Mapping[str, str]) -> int:
    """Show that this locale has no name for a file that AgentForge reads or writes, and what to set."""
    encoding = sys.getfilesystemencoding()
    if encoding == "utf-8":
        return report_internal(error, form=form, environ=environ)
    told = ToolchainError(
        f"this locale has no file names beyond {encoding}: {error.object[error.start : error.end]!a} cannot be written",
        hint="set PYTHONUTF8=1, or a locale of UTF-8 (LC_ALL=C.UTF-8)",
    )
    return report_error(told, form=form)


def report_missing(error: ModuleNotFoundError, *, form: Form, environ: Mapping[str, str]) -> int:
    """Show that a library, or a part of Python itself, is not installed, and the command that installs it."""
    name = (error.name or "").partition(".")[0]
    if name in sys.stdlib_module_names:
        told = ToolchainError(
            f"this Python ({sys.executable}) was built without {name.lstrip('_')}",
            hint="install AgentForge with a complete Python: that of your distribution, or one of `uv python install`",
        )
        return report_error(told, form=form)
    command = command_that_brings(name)
    if not command:  # whatever is called like that on an index need not be what was meant
        return report_internal(error, form=form, environ=environ)
    return report_error(ToolchainError(f"the library {name} is not installed", hint=command), form=form)


def report_internal(error: Exception, *, form: Form, environ: Mapping[str, str]) -> int:
    """Show an error nobody foresaw; the details go into a file.

    Returns:
        1, or the code of the narrower error when even the file cannot be written.
    """
    kind = type(error).__name__
    if _debugs(environ):
        sys.stderr.write("".join(traceback.format_exception(error)))
    try:
        hint = f"the details are in {_write_details(error, environ)}"
    except (OSError, AgentForgeError) as exc:
        hint = f"the details could not be kept: {exc}"
    return report_error(AgentForgeError(f"{kind}: {error}", hint=hint), form=form)


def _debugs(environ: Mapping[str, str]) -> bool:
    """Whether the user set `debug`: then an error that nobody foresaw is shown whole."""
    try:
        return load(Path.cwd(), environ).flag("debug")
    except (AgentForgeError, OSError):  # what is wrong with the settings is not what is reported here
        return False


def _write_details(error: Exception, environ: Mapping[str, str]) -> str:
    """Write the traceback, without values of variables, to the data folder."""
    folder = data_dir(environ) / "crashes"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.txt"
    text = f"agentforge {__version__}, Python {sys.version}\n\n" + "".join(traceback.format_exception(error))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return str(path)
