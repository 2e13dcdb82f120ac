"""The image on the clipboard of the desktop, by whichever program can read it there.

The person's own editor on a file: `$VISUAL`, `$EDITOR`, or what is there.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from agentforge.canonical import digest_bytes
from agentforge.messages import Picture
from agentforge.workspace.files.pictures import MOST_BYTES, kind_of

_PROGRAMS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
)
_PATIENCE_S = 5.0


def clipboard_picture(environ: Mapping[str, str]) -> Picture | None:
    """The image on the clipboard; None where there is none, it is too large, or no program can read it."""
    for program, *arguments in _PROGRAMS:
        found = shutil.which(program, path=environ.get("PATH"))
        if found is None:
            continue
        try:
            done = subprocess.run(
                [found, *arguments], capture_output=True, timeout=_PATIENCE_S, check=False, env=dict(environ)
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        kind = kind_of(done.stdout)
        if kind and len(done.stdout) <= MOST_BYTES:
            return Picture(name="clipboard", media_type=kind, digest=digest_bytes(done.stdout), data=done.stdout)
    return None


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
