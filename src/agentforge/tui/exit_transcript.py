"""What stays on the normal screen when this one is left: the conversation as text, so that it can be scrolled and copied."""

from __future__ import annotations

from collections.abc import Sequence

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
