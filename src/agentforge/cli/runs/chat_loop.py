"""`agentforge` without a command: the interactive agent, on the screen or line by line."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from io import BufferedReader
from typing import TYPE_CHECKING, Any, cast

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.closed_sessions import folder_of_session, last_session
from agentforge.app.sessions.person import Person
from agentforge.cli.plain.face import PlainFace
from agentforge.cli.runs.first_choice import with_model
from agentforge.cli.runs.trust_prompt import offer_trust
from agentforge.cli.startup.command_context import Place, open_place, open_working_place
from agentforge.errors import UsageError
from agentforge.tui import run_screen

if TYPE_CHECKING:
    pass


def talk(given: dict[str, Any]) -> int:
    """Open the face that fits: the screen on a terminal, else line by line.

    Args:
        given: the options of the command line: model, approval, work_mode, session, last, cwd, plain; prompt, the message
            to begin with.
    Returns:
        The exit code.
    """
    place, session = _place_of(given)
    first = given.get("prompt", "")
    place = offer_trust(place, given=bool(given.get("trust")))
    if sys.stdin.isatty() and not session:
        place = with_model(place, given["model"], form="text", again=lambda: _place_of(given)[0])

    def open_chat(session: str, person: Person) -> Chat:
        options = ChatOptions(
            cwd=place.cwd,
            session=session,
            model=given["model"],
            approval=given["approval"] or "",
            work_mode=given["work_mode"] or "",
        )
        return Chat.open(options, person, settings=place.settings, environ=place.environ)

    if not given["plain"] and screen_possible():
        return run_screen(open_chat, environ=place.environ, cwd=place.cwd, session=session, first=first)

    return PlainFace(open_chat, place=place, session=session, first=first).run()


def nothing_to_read() -> bool:
    """Whether standard input is at its end before anything came: nobody is there to talk to."""
    return sys.stdin is None or (not sys.stdin.isatty() and not cast("BufferedReader", sys.stdin.buffer).peek(1))


def screen_possible() -> bool:
    """Whether there is a terminal on both sides that can be drawn on, and what draws is installed."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return terminal and os.environ.get("TERM", "dumb") not in ("", "dumb") and find_spec("textual") is not None


def _place_of(given: dict[str, Any]) -> tuple[Place, str]:
    """Where the work happens, and which session goes on ("" = a new one); a session stays in its own folder."""
    place = open_working_place(given["cwd"])
    session = given["session"] or ""
    if session and given["last"]:
        raise UsageError("--resume and --continue cannot be used together", hint="--continue takes the last session")
    if given["last"]:
        session = last_session(place.environ, cwd=place.cwd)
    if session:
        there = folder_of_session(place.environ, session)
        place = open_place(str(there)) if there is not None and there != place.cwd else place
    return place, session
