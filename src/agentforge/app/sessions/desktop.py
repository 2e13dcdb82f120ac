"""The image, or the text, on the clipboard of the desktop, by whichever program can read it there.

The person's own editor on a file: `$VISUAL`, `$EDITOR`, or what is there.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentforge.canonical import digest_bytes
from agentforge.messages import Picture
from agentforge.workspace.files.pictures import MOST_BYTES, kind_of

_PROGRAMS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
)
_FOR_TEXT = (
    ("wl-paste", "--no-newline", "--type", "text"),
    ("xclip", "-selection", "clipboard", "-o"),
    ("xsel", "--clipboard", "--output"),
    ("pbpaste",),
)
_PATIENCE_S = 5.0


def clipboard_picture(environ: Mapping[str, str]) -> Picture | None:
    """The image on the clipboard; None where there is none, it is too large, or no program can read it."""
    for data in _read(_PROGRAMS, environ):
        kind = kind_of(data)
        if kind and len(data) <= MOST_BYTES:
            return Picture(name="clipboard", media_type=kind, digest=digest_bytes(data), data=data)
    return None


def clipboard_text(environ: Mapping[str, str]) -> str:
    """The text on the clipboard; "" where there is none, or no program can read it."""
    for data in _read(_FOR_TEXT, environ):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text and "\0" not in text:
            return text.replace("\r\n", "\n")
    return ""


def why_no_clipboard(environ: Mapping[str, str]) -> str:
    """Why nothing came from the clipboard."""
    programs = {program for program, *_ in (*_PROGRAMS, *_FOR_TEXT)}
    if any(shutil.which(program, path=environ.get("PATH")) for program in programs):
        return "There is nothing on the clipboard."
    return "No program here reads the clipboard: install wl-clipboard or xclip."


def _read(programs: Sequence[tuple[str, ...]], environ: Mapping[str, str]) -> Iterator[bytes]:
    """What each program that is here reads from the clipboard."""
    for program, *arguments in programs:
        found = shutil.which(program, path=environ.get("PATH"))
        if found is None:
            continue
        try:
            done = subprocess.run(
                [found, *arguments], capture_output=True, timeout=_PATIENCE_S, check=False, env=dict(environ)
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if not done.returncode:
            yield done.stdout


_USUAL = ("sensible-editor", "nano", "vim", "vi")


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command line of the person's editor; [] when there is none."""
    named = environ.get("VISUAL") or environ.get("EDITOR") or ""
    if named.strip():
        try:
            return shlex.split(named)
        except ValueError:  # a quote that is not closed
            return [named]
    found = next((program for program in _USUAL if shutil.which(program, path=environ.get("PATH"))), "")
    return [found] if found else []


def edit(file: Path, environ: Mapping[str, str]) -> str:
    """Let the person edit a file on the terminal of this process; returns when they leave the editor.

    Returns:
        Why it was not edited, "" when it was.
    """
    argv = editor_of(environ)
    if not argv:
        return f"there is no editor: set EDITOR, or edit {file}"
    try:
        done = subprocess.run([*argv, str(file)], check=False)
    except OSError as exc:
        return f"the editor {argv[0]} cannot be started: {exc.strerror}; set EDITOR, or edit {file}"
    return f"the editor {argv[0]} ended with {done.returncode}; nothing was taken over" if done.returncode else ""
