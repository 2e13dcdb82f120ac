"""The way in: parse, run the command, and turn whatever went wrong into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from agentforge.cli.startup.form import Form, wanted_form
from agentforge.cli.startup.streams import checked, hung_up, prepare
from agentforge.errors import EXIT_HUNG_UP, EXIT_INTERRUPTED, AgentForgeError

_COMPLETE = "_AGENTFORGE_COMPLETE"


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        The exit code.
    Side effects: prints; a traceback goes to a file of the data folder, never to the screen.
    """
    form = wanted_form(arguments)
    prepare()
    try:
        code = _invoke(list(arguments))
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("\ninterrupted\n")
        code = EXIT_INTERRUPTED
    except Exception as exc:  # noqa: BLE001 - the last place before the user's eyes
        code = EXIT_HUNG_UP if hung_up(exc) else _reported(exc, form=form)
    return checked(code)


def _reported(exc: Exception, *, form: Form) -> int:
    """Tell the person what went wrong; what can tell is loaded only now."""
    from agentforge.cli.output.errors import (
        report_error,
        report_internal,
        report_missing,
        report_refused,
        report_unencodable,
        report_usage,
    )

    match exc:
        case click.UsageError():
            return report_usage(exc, form=form)
        case AgentForgeError():
            return report_error(exc, form=form)
        case click.ClickException():
            return report_error(AgentForgeError(exc.format_message()), form=form)
        case OSError():
            return report_refused(exc, form=form, environ=os.environ)
        case ModuleNotFoundError():
            return report_missing(exc, form=form, environ=os.environ)
        case UnicodeEncodeError():
            return report_unencodable(exc, form=form, environ=os.environ)
    return report_internal(exc, form=form, environ=os.environ)


def _invoke(arguments: list[str]) -> int:
    from agentforge.cli.startup.lazy import agentforge

    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(agentforge, {}, "agentforge", _COMPLETE, os.environ[_COMPLETE])
    try:
        with agentforge.make_context("agentforge", arguments) as ctx:
            code = agentforge.invoke(ctx)
    except click.exceptions.Exit as exc:
        return exc.exit_code
    return code if isinstance(code, int) else 0
