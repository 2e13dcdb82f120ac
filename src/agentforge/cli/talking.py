"""`agentforge` without a command: the interactive agent, on the screen or line by line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, cast

from agentforge.cli.place import Place, open_place
from agentforge.errors import UsageError

if TYPE_CHECKING:
    from io import BufferedReader

    from agentforge.app.chat import Chat
    from agentforge.app.person import Person


def talk(given: dict[str, Any]) -> int:
    """Open the face that fits: the screen on a terminal, else line by line.

    Args:
        given: the options of the command line: model, approval, work_mode, session, last, cwd, plain.
    Returns:
        The exit code.
    """
    place = open_place(given["cwd"])
    session = _session(given, place)

    def open_chat(session: str, person: Person) -> Chat:
        from agentforge.app.chat import Chat, ChatOptions

        options = ChatOptions(
            cwd=place.cwd,
            session=session,
            model=given["model"],
            approval=given["approval"] or "",
            work_mode=given["work_mode"],
        )
        return Chat.open(options, person, settings=place.settings, environ=place.environ)

    if not given["plain"] and screen_possible():
        from agentforge.tui.run import run_screen

        return run_screen(open_chat, environ=place.environ, cwd=place.cwd, session=session)
    from agentforge.cli.plain.face import PlainFace

    return PlainFace(open_chat, place=place, session=session).run()


def nothing_to_read() -> bool:
    """Whether standard input is at its end before anything came: nobody is there to talk to."""
    return sys.stdin is None or (not sys.stdin.isatty() and not cast("BufferedReader", sys.stdin.buffer).peek(1))


def screen_possible() -> bool:
    """Whether there is a terminal on both sides that can be drawn on, and what draws is installed."""
    from importlib.util import find_spec

    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return terminal and os.environ.get("TERM", "dumb") not in ("", "dumb") and find_spec("textual") is not None


def _session(given: dict[str, Any], place: Place) -> str:
    if given["session"] and given["last"]:
        raise UsageError("--resume and --continue exclude each other", hint="give one of them")
    if not given["last"]:
        return str(given["session"] or "")
    from agentforge.config.paths import data_dir
    from agentforge.store.reader import LOG
    from agentforge.store.sessions import run_folder, session_ids

    data = data_dir(place.environ)
    newest = sorted(session_ids(data), key=lambda name: (run_folder(data, name) / LOG).stat().st_mtime, reverse=True)
    found = next((name for name in newest if _is_here(run_folder(data, name), place)), "")
    if not found:
        raise UsageError("there is no session of this folder to go on with", hint="begin one: agentforge")
    return found


def _is_here(folder: Any, place: Place) -> bool:
    """Whether a session of a person works in this folder."""
    from agentforge.store.reader import load_state

    state = load_state(folder)
    return state.kind == "session" and state.repo == str(place.cwd) and state.talk.turn > 0
