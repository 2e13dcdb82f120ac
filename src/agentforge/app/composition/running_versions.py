"""The versions of what drives a run, for its records."""

from __future__ import annotations

import sys

from agentforge import __version__
from agentforge.events.storage.blob_form import ZLIB, zlib_version
from agentforge.events.storage.view_mark import VIEWS, views_format


def program_versions() -> dict[str, str]:
    """Those of agentforge, python and zlib, and the format of the views."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"agentforge": __version__, "python": python, ZLIB: zlib_version(), VIEWS: views_format()}
