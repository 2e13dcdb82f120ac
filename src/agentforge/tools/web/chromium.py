"""Where the machine's own Chromium is; nothing is loaded to find out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium(environ: Mapping[str, str]) -> str:
    """Find Chromium or Chrome on PATH; "" when there is none."""
    found = (shutil.which(name, path=environ.get("PATH", os.defpath)) for name in _PROGRAMS)
    return next((path for path in found if path), "")
