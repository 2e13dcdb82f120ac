"""The person's own editor on a file: `$VISUAL`, `$EDITOR`, or what is there."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

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
