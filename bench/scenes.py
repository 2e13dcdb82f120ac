"""What is measured in: a small repository, homes of its own for every program, and the scripts of the scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULES = 20
READ_LINES = 60
REQUEST = "Say what the modules do"
_LIMITS = """[limits]
stage_steps = 100000
max_steps = "none"
budget_tokens = "none"
budget_usd = "none"
deadline = "none"

[test]
python = {python}
"""
_PEER = """max_turns = 100000
approval = "yolo"

[model]
provider = "custom"
name = "bench"
base_url = {url}
"""


def make_repository(folder: Path) -> Path:
    """Make a repository of 20 modules of 200 lines with one test."""
    (folder / "src").mkdir(parents=True)
    (folder / "tests").mkdir()
    for module in range(MODULES):
        (folder / "src" / f"mod_{module:02d}.py").write_text(_module(module))
    (folder / "tests" / "test_one.py").write_text("def test_one():\n    assert 1 + 1 == 2\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)
    (folder / ".agentforge").mkdir()
    (folder / ".agentforge" / "config.toml").write_text(_LIMITS.format(python=json.dumps(sys.executable)))
    return folder


def environment(home: Path, *, url: str = "") -> dict[str, str]:
    """The environment of a measured program: a home of its own, byte code kept, no key but ours."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
    return {**kept, **places, "HOME": str(home), "BASE_URL": url, "API_KEY": "bench"}


def peer_settings(home: Path, *, url: str) -> None:
    """Let agentforge-harness ask our provider and ask nobody for approval."""
    folder = home / "config" / "agentforge"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(_PEER.format(url=json.dumps(url)))


def read_arguments(number: int) -> dict[str, Any]:
    """Where step `number` reads: another file and another place than the steps before."""
    return {"path": f"src/mod_{number % MODULES:02d}.py", "offset": 1 + number * 7 % 120}


def script(kind: str, steps: int, *, intake: dict[str, Any]) -> str:
    """The replies of a run whose ANALYZE does `steps` steps of one kind: `read` or `shell`."""
    first = {"tool_calls": [{"name": "submit_artifact", "args": {"artifact": intake}}]}
    replies = [_reply(kind, number) for number in range(1, steps + 1)]
    lines = ["intake:", f"  - {json.dumps(first)}", "analyze:", *(f"  - {json.dumps(reply)}" for reply in replies)]
    return "\n".join(lines) + "\n"


def _reply(kind: str, number: int) -> dict[str, Any]:
    place = read_arguments(number)
    call: dict[str, Any] = {"name": "read_file", "args": {**place, "limit": READ_LINES}}
    if kind == "shell":
        last = place["offset"] + READ_LINES - 1
        call = {"name": "shell", "args": {"command": f"sed -n {place['offset']},{last}p {place['path']}"}}
    usage = {"prompt_tokens": 3000, "completion_tokens": 60}
    return {"text": f"Step {number}: I look at the next module.", "tool_calls": [call], "usage": usage}


def _module(number: int) -> str:
    functions = (
        f'def function_{number}_{index}(value: int) -> int:\n    """Add {index}."""\n    return value + {index}\n'
        for index in range(33)
    )
    return f'"""Module {number}."""\n\n\n' + "\n\n".join(functions)
