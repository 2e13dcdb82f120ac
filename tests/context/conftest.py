"""The strict reading of requests can be imported as `agentforge_strict`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location(
    "agentforge_strict", Path(__file__).parents[1] / "loopback" / "strict.py"
)
assert _SPEC is not None and _SPEC.loader is not None
_STRICT = importlib.util.module_from_spec(_SPEC)
sys.modules["agentforge_strict"] = _STRICT
_SPEC.loader.exec_module(_STRICT)
