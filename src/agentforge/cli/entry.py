"""The way in: parse, run the command, and turn whatever went wrong into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import click

from agentforge.cli.form import Form, wanted_form
from agentforge.errors import EXIT_INTERRUPTED, AgentForgeError

_COMPLETE = "_AGENTFORGE_COMPLETE"


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        The exit code.
    Side effects: prints; a traceback goes to a file of the data folder, never to the screen.
    """
    form = wanted_form(arguments)
    _tolerant_streams()
    try:
        return _finished(_invoke(list(arguments)))
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("\ninterrupted\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except Exception as exc:  # noqa: BLE001 - the last place before the user's eyes
        return _reported(exc, form=form)


def _reported(exc: Exception, *, form: Form) -> int:
    """Tell the person what went wrong; what can tell is loaded only now."""
    from agentforge.cli.errors import report_error, report_internal, report_refused, report_usage

    match exc:
        case click.UsageError():
            return report_usage(exc, form=form)
        case AgentForgeError():
            return report_error(exc, form=form)
        case click.ClickException():
            return report_error(AgentForgeError(exc.format_message()), form=form)
        case PermissionError():
            return report_refused(exc, form=form)
    return report_internal(exc, form=form, environ=os.environ)


def _invoke(arguments: list[str]) -> int:
    from agentforge.cli.lazy import agentforge

    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(agentforge, {}, "agentforge", _COMPLETE, os.environ[_COMPLETE])
    try:
        with agentforge.make_context("agentforge", arguments) as ctx:
            code = agentforge.invoke(ctx)
    except click.exceptions.Exit as exc:
        return exc.exit_code
    return code if isinstance(code, int) else 0


def _finished(code: int) -> int:
    """Flush while a reader that left can still be met quietly."""
    sys.stdout.flush()
    return code


def _reader_left() -> int:
    """`agentforge ... | head`: whoever read stdout has gone; the interpreter must not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _tolerant_streams() -> None:
    """A terminal that cannot show a character gets one that looks like it; elsewhere an escape stands for it, no crash."""
    plain = _is_plain(os.environ)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if plain and stream.isatty():
            from agentforge.tui.lookalikes import ERRORS, register

            register()
            known = stream.encoding.lower().replace("-", "")
            reconfigure(encoding="ascii" if known.startswith("utf") else None, errors=ERRORS)
        else:
            reconfigure(errors="backslashreplace")


def _is_plain(environ: Mapping[str, str]) -> bool:
    """Whether the user's locale is one that is not UTF-8; Python may have taken another one for itself."""
    said = environ.get("LC_ALL") or environ.get("LANG") or ""
    if not said or "utf" in said.lower():
        return False
    from agentforge.tui.looks import knows_unicode

    return not knows_unicode(environ)
