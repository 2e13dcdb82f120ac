"""The floors hold, and commands load only what they need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.meta.conftest import Source

_HEAVY = frozenset(
    {
        "httpx2",
        "yaml",
        "jsonschema_rs",
        "ast_grep_py",
        "genai_prices",
        "cel_expr_python",
        "asyncio",
        "importlib.metadata",
    }
)
_MOST_MODULES = 420
"""Modules of ours on the road to the first request: they cost about 0.3 ms each, and the whole road may cost 0.25 s."""
_SERVERS = ("src/agentforge/acp_server/", "src/agentforge/mcp_server/")
_OF_SERVERS = ("acp", "anyio", "mcp", "mcp_types", "pydantic")
_EVIDENCE = "src/agentforge/testing/programs/"


def test_the_floors_hold(root: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_third_party_modules_are_imported_where_they_are_used(sources: tuple[Source, ...]) -> None:
    found = [
        f"{source.path}: {name}"
        for source in sources
        if not source.path.startswith(_EVIDENCE)  # runs in the target's interpreter, where pytest is
        if source.path
        != "src/agentforge/workspace/sandbox/landlock_launch.py"  # a program of its own, started where it is there
        for name in _top_level_imports(source.tree)
        if name not in sys.stdlib_module_names and name != "agentforge"
        if not (name == "click" and source.path.startswith("src/agentforge/cli/"))
        if not (
            name in ("textual", "rich") and source.path.startswith("src/agentforge/tui/")
        )  # rich is what textual draws with
        if not (name in _OF_SERVERS and source.path.startswith(_SERVERS))  # loaded by their own commands only
    ]
    assert found == []


@pytest.mark.parametrize("name", ["agentforge", "agentforge.__main__", "agentforge.cli"])
def test_the_doors_import_nothing(name: str) -> None:
    assert _loaded_by(f"import {name}") <= {"agentforge", "agentforge.__main__", "agentforge.cli", "__future__"}


def test_the_version_loads_nothing_at_all() -> None:
    loaded = _loaded_by(
        "import sys; sys.argv = ['agentforge', '--version']; from agentforge.__main__ import main; main()"
    )
    assert loaded <= {"agentforge", "agentforge.__main__", "__future__"}


def test_help_loads_click_and_the_table() -> None:
    loaded = _loaded_by("import sys; sys.argv = ['agentforge', '--help']; from agentforge.__main__ import main; main()")
    assert "click.core" in loaded
    assert not loaded & _HEAVY
    ours = {name for name in loaded if name.startswith("agentforge")}
    assert ours <= {
        "agentforge", "agentforge.__main__", "agentforge.errors", "agentforge.cli", "agentforge.cli.startup", "agentforge.cli.startup.entry",
        "agentforge.cli.startup.flag", "agentforge.cli.startup.form", "agentforge.cli.startup.later", "agentforge.cli.startup.lazy",
        "agentforge.cli.startup.streams",
    }  # fmt: skip


def test_the_start_command_loads_nothing_heavy_before_it_begins() -> None:
    loaded = _loaded_by(
        "import agentforge.cli.commands.tasks.start, agentforge.cli.runs.follow, agentforge.cli.startup.command_context"
    )
    assert not loaded & _HEAVY


def test_the_road_to_the_first_request_loads_nothing_heavy_and_no_more_of_ours_than_its_budget_allows() -> None:
    road = (
        "cli.startup.entry", "cli.commands.tasks.start", "cli.commands.sessions.run", "cli.runs.follow", "app.tasks.runs",
        "app.composition.assembly", "pipeline.engine.controller", "pipeline.engine.stage_agent", "pipeline.context.material",
        "models.providers", "store.log.run_log",
    )  # fmt: skip
    loaded = _loaded_by(
        "from agentforge.cli.startup.later import load_later; load_later()\n"
        f"import {', '.join(f'agentforge.{name}' for name in road)}"
    )
    assert not loaded & _HEAVY
    assert len([name for name in loaded if name.startswith("agentforge.")]) <= _MOST_MODULES


def _top_level_imports(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            names += [alias.name.partition(".")[0] for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            names.append(statement.module.partition(".")[0])
    return names


def _loaded_by(code: str) -> set[str]:
    """The modules that running `code` loads beyond those of an empty program, by `-X importtime`."""
    return _imports(code) - _imports("pass")


def _imports(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
