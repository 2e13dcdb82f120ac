"""A public name is found when somebody asks for it, and is always what its module has now."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agentforge.hooks
from agentforge.fronts import front
from agentforge.hooks import hook


def test_a_public_name_is_what_its_module_has_at_this_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    public = front("agentforge.hooks", {"hook": ("Hook", "read_hook")})
    assert public("Hook") is hook.Hook
    monkeypatch.setattr(hook, "read_hook", "another")
    assert public("read_hook") == "another" == agentforge.hooks.read_hook


def test_no_other_name_is_public() -> None:
    public = front("agentforge.hooks", {"hook": ("Hook",)})
    with pytest.raises(AttributeError, match="read_hook"):
        public("read_hook")
    assert hasattr(hook, "read_hook") and not hasattr(agentforge.hooks, "nothing")


def test_who_imports_one_name_loads_one_module_of_the_package() -> None:
    code = "import sys; from agentforge.hooks import Hook; print(*(m for m in sys.modules if m.startswith('agentforge.hooks.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["agentforge.hooks.hook"]
