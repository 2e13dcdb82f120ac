"""The image on the clipboard of the desktop, by whichever program can read it there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

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
