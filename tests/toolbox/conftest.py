"""A small project with a real git repository, and what a tool may reach in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.safety.policy.scope import WriteScope
from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext
from agentforge.tools.dispatch.invocation import InvocationPolicy, perform_call, prepare_call
from agentforge.workspace.processes.process import Completed, run

Call = Callable[..., Observation]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a package, a test and an ignored folder."""
    root = (tmp_path / "my projekt ü").resolve()
    for name, text in {
        "shapes/area.py": '"""Areas."""\n\n\ndef area(width: int, height: int) -> int:\n    """Width times height."""\n    return width * height\n',
        "shapes/__init__.py": "from shapes.area import area\n",
        "tests/test_area.py": "from shapes import area\n\n\ndef test_area() -> None:\n    assert area(2, 3) == 6\n",
        "README.md": "# Shapes\n\nAreas of shapes.\n",
        ".gitignore": "build/\n",
        "build/area.py": "def area(): ...\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


@pytest.fixture
def context(project: Path) -> ToolContext:
    """The workspace of a stage that may write everything but frozen.py."""

    def run_command(command: str, *, timeout_s: float, cwd: str) -> tuple[Completed, None]:
        done = run(["bash", "-c", command], cwd=project / cwd, env={"PATH": "/usr/bin:/bin"}, timeout_s=timeout_s)
        return done, None

    def echoed(name: str) -> Callable[[tuple[str, ...]], Observation]:
        return lambda items: Observation(status="success", summary=f"{name} {', '.join(items)}")

    return ToolContext(
        root=project,
        base_commit="0" * 40,
        run_command=run_command,
        run_tests=echoed("tests"),
        run_checks=echoed("checks"),
        git_diff=lambda path: (
            f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n-a\n+b\n+c\n" if path else ""
        ),
        may_write=WriteScope(allow=("**",), deny=("frozen.py",)).refusal,
    )


@pytest.fixture
def call(context: ToolContext) -> Call:
    """Call a tool as the agent loop does; `seen` and `limits` replace those of the context."""

    def invoke(
        tool: str,
        /,
        *,
        seen: Mapping[str, str] | None = None,
        limits: Mapping[str, int] | None = None,
        **arguments: object,
    ) -> Observation:
        import json

        mine = replace(context, seen=seen or {}, limits=limits or {})
        policy = InvocationPolicy()
        prepared = prepare_call(tool, json.dumps(arguments), tools=find([tool]), context=mine, policy=policy)
        return prepared if isinstance(prepared, Observation) else perform_call(prepared, context=mine, policy=policy)

    return invoke
