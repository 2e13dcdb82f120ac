"""Opening the screen and leaving it in order."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentforge.tui.app import ScreenApp
from agentforge.tui.engine import Engine, OpenChat

_LINES = 2_000
_STYLES = {"said": "1;34", "success": "2", "error": "31", "denied": "33", "note": "2", "child": "2"}


def farewell(record: Sequence[tuple[str, str]], *, session_id: str, colour: bool, unicode: bool) -> str:
    """The text that is printed.

    Args:
        record: (kind, text), oldest first; of a long conversation the end is printed.
        session_id: "" when nothing was said: then there is nothing to go on with.
    """
    marks = {"said": "› ", "success": "  ✓ ", "error": "  ✗ ", "denied": "  ⊘ "} if unicode else {}
    plain = {"said": "> ", "success": "  + ", "error": "  x ", "denied": "  ! ", "note": "  ", "child": "  "}
    lines: list[str] = []
    for kind, text in record:
        mark = marks.get(kind, plain.get(kind, ""))
        body = [f"{mark}{text}"] if kind != "reply" else text.strip("\n").splitlines()
        space = [""] if kind in ("said", "reply") and lines and lines[-1] else []
        style = _STYLES.get(kind) if colour else None
        lines += [*space, *(f"\x1b[{style}m{row}\x1b[0m" if style else row for row in body)]
        lines += [""] if kind in ("said", "reply") else []
    if len(lines) > _LINES:
        lines = [f"... {len(lines) - _LINES} lines before; the session holds them", *lines[-_LINES:]]
    if session_id:
        lines += ["", f"session kept; go on with: agentforge --resume {session_id[:8]}"]
    return "\n".join(lines) + "\n" if lines else ""


def run_screen(open_chat: OpenChat, *, environ: Mapping[str, str], cwd: Path, session: str, first: str = "") -> int:
    """Show the conversation until the person leaves.

    Args:
        first: the message that it begins with.
    Returns:
        The exit code.
    Raises:
        AgentForgeError: the session cannot be opened.
    Side effects: takes the terminal; when it is left, the conversation is printed on the normal screen.
    """
    engine = Engine(open_chat, session=session, environ=environ)

    app = ScreenApp(engine, cwd=cwd, first=first)
    try:
        with _termination(app):
            app.run()
    finally:
        engine.leave()
    chat = engine.chat
    sys.stdout.write(
        farewell(
            app.transcript.record,
            session_id=chat.session_id if chat.state.talk.turn else "",
            colour=not app.no_color,
            unicode=app.signs.unicode,
        )
    )
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0


class _termination:  # noqa: N801 - reads as a word of the language
    """SIGTERM and SIGHUP leave as the person would."""

    def __init__(self, app: ScreenApp) -> None:
        self._app = app
        self._before: dict[int, Callable[..., object] | int | None] = {}

    def __enter__(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, lambda *_: self._app.call_later(self._app.leave, 130))

    def __exit__(self, *_error: object) -> None:
        for number, action in self._before.items():
            signal.signal(number, action)
