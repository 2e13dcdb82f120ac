"""The states module can be imported as `agentforge_states`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("agentforge_states", Path(__file__).with_name("states.py"))
assert _SPEC is not None and _SPEC.loader is not None
_STATES = importlib.util.module_from_spec(_SPEC)
sys.modules["agentforge_states"] = _STATES
_SPEC.loader.exec_module(_STATES)
