"""docs/parity.md is true: every row names a test that exists, and what it names of the program is there."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

Rows = dict[str, list[tuple[str, str]]]

_SECTIONS = (
    "The loop", "Tools", "How a call is carried out", "Safety and approval", "Hooks", "MCP, subagents, skills", "Context",
    "Ways to work", "Sessions", "Slash commands", "Command line", "Settings", "Environment and places", "Its 25 defects",
    "What is different",
)  # fmt: skip
_PAGES = "Where its pages are"
_SLASH = frozenset(
    {
        "help", "exit", "quit", "new", "reload", "version", "retry", "history", "report", "clear", "config", "doctor", "provider",
        "models", "model", "fallbacks", "paths", "compact", "errors", "approval", "stats", "todos", "tools", "skills", "skill",
        "unskill", "mcp", "name", "save", "checkpoint", "restore", "checkpoints", "sessions", "resume", "plan", "build",
        "export", "swarm", "cost",
    }
)  # fmt: skip
_TOOLS = frozenset(
    {
        "read_file", "write_file", "append_file", "edit", "apply_patch", "git_diff", "shell", "list_dir", "grep", "glob", "todos",
        "memory", "web_search", "web_fetch",
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def rows(root: Path) -> Rows:
    """Section -> (first column, proof) of each row."""
    found: Rows = {}
    section = ""
    for line in (root / "docs" / "parity.md").read_text(encoding="utf-8").splitlines():
        section = line.removeprefix("## ") if line.startswith("## ") else section
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if cells and cells[0] not in ("Row", "---") and section != _PAGES:
            assert len(cells) == 3, line
            found.setdefault(section, []).append((cells[0], cells[2]))
    return found


@cache
def _tests_of(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _named(rows: Rows, section: str, form: str = r"`([^`]+)`") -> list[str]:
    return [name for row, _ in rows[section] for name in re.findall(form, row)]


def test_every_part_of_the_older_harness_has_its_table(rows: Rows) -> None:
    assert tuple(rows) == _SECTIONS
    numbers = [int(row.split()[0]) for row, _ in rows["Its 25 defects"]]
    assert numbers == list(range(1, 26))


def test_every_row_names_tests_that_exist(root: Path, rows: Rows) -> None:
    wrong = []
    for row, proof in (one for section in rows.values() for one in section):
        named = re.findall(r"`([^`:]+)::([^`]+)`", proof)
        wrong += [row] if not named else []
        wrong += [
            f"{row}: {file}::{test}"
            for file, test in named
            if not (root / "tests" / file).is_file() or test not in _tests_of(root / "tests" / file)
        ]
    assert wrong == []


def test_every_slash_command_is_in_the_table_and_in_the_program(rows: Rows) -> None:
    from agentforge.app.slash import commands

    listed = {name.removeprefix("/") for name in _named(rows, "Slash commands")}
    assert (_SLASH - listed, listed - set(commands())) == (set(), set())


def test_every_tool_is_in_the_table_and_takes_its_parameters(rows: Rows) -> None:
    from agentforge import toolbox

    listed = {
        name: given.split(", ") for name, given in re.findall(r"`(\w+)\(([^)]*)\)`", "\n".join(_rows(rows, "Tools")))
    }
    assert set(listed) >= _TOOLS
    tools = toolbox.find(_TOOLS)
    missing = {
        f"{name}: {parameter}"
        for name in _TOOLS
        for parameter in listed[name]
        if parameter not in tools[name].parameters["properties"]
    }
    assert missing == set()


def _rows(rows: Rows, section: str) -> list[str]:
    return [row for row, _ in rows[section]]


def test_every_setting_is_known(rows: Rows) -> None:
    from agentforge.config.schema import known_keys

    known = {key.removesuffix(".*") for key in known_keys()}
    assert {key for key in _named(rows, "Settings") if key not in known} == set()


def test_every_command_and_mode_is_there(rows: Rows) -> None:
    from agentforge.cli.startup.lazy import COMMANDS
    from agentforge.safety.policy.modes import Mode

    commands = set(_named(rows, "Command line", r"`agentforge ([a-z]+)`"))
    assert commands <= set(COMMANDS)
    assert set(Mode) <= set(_named(rows, "Safety and approval"))


def test_each_page_of_the_older_harness_has_a_row_that_the_index_leads_to(root: Path) -> None:
    pages = (
        "getting-started.md", "architecture.md", "configuration.md", "cli.md", "skills.md", "persistence.md", "extensions.md",
        "providers.md", "SECURITY.md", "tool-reliability.md", "release.md", "manual-testing.md", "examples/README.md", "ROADMAP.md",
    )  # fmt: skip
    assert "parity.md#where-its-pages-are" in (root / "docs" / "index.md").read_text("utf-8")
    text = (root / "docs" / "parity.md").read_text("utf-8")
    table = text.partition(f"## {_PAGES}\n")[2].partition("\n## ")[0]
    rows = {line.split("|")[1].strip(" `"): line.split("|")[2] for line in table.splitlines() if line.startswith("| `")}
    assert {page: bool(rows.get(page, "").strip()) for page in pages} == dict.fromkeys(pages, True)
    named = {path for row in rows.values() for path in re.findall(r"`([\w./-]+\.md)`", row)}
    assert [path for path in sorted(named) if not (root / path).is_file()] == []


def test_the_oldest_python_is_said_where_people_look(root: Path) -> None:
    wanted = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    oldest = wanted.removeprefix(">=")
    pages = ("README.md", "CONTRIBUTING.md", "docs/start.md", "docs/parity.md")
    assert [page for page in pages if f"{oldest} or " not in (root / page).read_text("utf-8")] == []


def test_the_extra_of_development_has_what_the_tests_need(root: Path) -> None:
    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = {re.split(r"[\[>=; ]", need)[0] for need in extras["dev"]}
    assert named >= {"agentforge-pipeline", "pytest", "pytest-xdist", "hypothesis", "mypy", "import-linter"}
    assert "agentforge-pipeline[all]" in extras["dev"]
