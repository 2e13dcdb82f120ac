"""Every example in `examples/` does what it says, put where its README says it goes."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.world import own_settings

if TYPE_CHECKING:
    from tests.support.world import World

EXAMPLES = Path(__file__).parents[2] / "examples"


def _talk(
    world: World, *calls: tuple[str, dict[str, Any]], flags: tuple[str, ...] = (), **others: Any
) -> dict[str, str]:
    """A session in which a scripted model makes calls; what came back, by tool."""
    script = world.home / "chat.yaml"
    asked = [{"text": "", "tool_calls": [{"name": name, "args": args}]} for name, args in calls]
    script.write_text(yaml.safe_dump({"chat": [*asked, {"text": "Done."}], **others}))
    done = world.run("run", "go", "--model", f"scripted/{script}", "--approval", "yolo", *flags)
    assert done.out.endswith("Done.\n"), done.err
    file = max(world.home.rglob("sessions/*.json"), key=lambda one: one.stat().st_mtime)
    messages = json.loads(file.read_text())["messages"]
    names = {call["id"]: call["function"]["name"] for one in messages for call in one["tool_calls"] or ()}
    return {names[one["tool_call_id"]]: one["content"] for one in messages if one["role"] == "tool"}


def _own_settings(world: World, file: Path) -> None:
    own_settings(world.home, file.read_text("utf-8"))


def _put(world: World, file: Path, folder: str) -> None:
    target = world.repo / ".agentforge" / folder
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target / file.name)


def test_every_folder_is_named_in_the_readme_and_every_link_leads_somewhere() -> None:
    text = (EXAMPLES / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((EXAMPLES / link).exists() for link in links)
    assert {link.partition("/")[0] for link in links} == {path.name for path in EXAMPLES.iterdir() if path.is_dir()}


def test_the_tool_counts_and_does_not_leave_the_workspace(world: World) -> None:
    _put(world, EXAMPLES / "tool" / "count_words.py", "tools")
    assert world.run("trust", ".", "--yes").code == 0
    (world.repo / "three.txt").write_text("one two three")
    said = _talk(world, ("count_words", {"path": "three.txt"}))["count_words"]
    assert "three.txt has 3 words" in said
    assert "there is no file" in _talk(world, ("count_words", {"path": "../outside"}))["count_words"]


def test_the_hook_forbids_lock_files_and_nothing_else(world: World) -> None:
    _own_settings(world, EXAMPLES / "hook" / "config.toml")
    said = _talk(world, ("write_file", {"path": "uv.lock", "content": "x"}))["write_file"]
    assert "lock files are made by the package manager" in said
    assert not (world.repo / "uv.lock").exists()
    _talk(world, ("write_file", {"path": "notes.txt", "content": "x"}))
    assert (world.repo / "notes.txt").read_text() == "x"


def test_the_skill_is_valid_and_is_listed(world: World) -> None:
    assert world.run("skills", "validate", str(EXAMPLES / "skill" / "changelog-entry")).code == 0
    shutil.copytree(EXAMPLES / "skill", world.repo / ".agentforge" / "skills")
    assert world.run("trust", ".", "--yes").code == 0
    assert "changelog-entry" in world.run("skills", "list").out


def test_the_subagent_is_called_and_has_only_its_tools(world: World) -> None:
    _own_settings(world, EXAMPLES / "subagent" / "config.toml")
    child = [
        {"text": "", "tool_calls": [{"name": "write_file", "args": {"path": "x", "content": "x"}}]},
        {"text": "README.md:1 - a - b"},
    ]
    said = _talk(world, ("subagent_docs_checker", {"goal": "check"}), docs_checker=child)["subagent_docs_checker"]
    assert "README.md:1" in said
    assert not (world.repo / "x").exists()


def test_the_contract_asks_for_more_than_the_builtin_one(world: World) -> None:
    _put(world, EXAMPLES / "contract" / "specification.yaml", "contracts")
    shown = world.run("contracts", "show", "specification").out
    assert "owner" in shown
    assert "every requirement has at least one acceptance criterion" in shown


@pytest.mark.parametrize(
    ("name", "found"), [("textkit.py", True), ("tests/test_prints.py", False), ("scripts/go.py", False)]
)
def test_the_house_rules_hold_where_they_say(world: World, name: str, found: bool) -> None:
    _put(world, EXAMPLES / "contract" / "house.yaml", "contracts")
    file = world.repo / name
    file.parent.mkdir(exist_ok=True)
    file.write_text('def shown():\n    """Print."""\n    print("x")\n')
    done = world.run("conformance", "check", name, "--json")
    assert done.code == (4 if found else 0)
    assert not found or "print() in a library" in done.out


def test_the_check_runs_only_when_it_is_trusted(world: World) -> None:
    _put(world, EXAMPLES / "check" / "no_todo.py", "checks")
    (world.repo / "textkit.py").write_text("# TODO later\nx = 1  # TODO(TEXT-12): soon\n")
    assert world.run("conformance", "check", "textkit.py").code == 0
    done = world.run("conformance", "check", "textkit.py", "--trust-project-checks")
    assert (done.code, done.out.count("a TODO without a ticket")) == (4, 1)


def test_the_provider_answers_once_its_package_is_installed(world: World, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "provider" / "agentforge_parrot.py", tmp_path)
    project = tomllib.loads((EXAMPLES / "provider" / "pyproject.toml").read_text())["project"]
    installed = tmp_path / f"agentforge_parrot-{project['version']}.dist-info"  # what an installer leaves
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["agentforge.providers"]
    (installed / "entry_points.txt").write_text(
        "[agentforge.providers]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
    )
    there = {"PYTHONPATH": str(tmp_path)}
    assert world.run("run", "polly", "--model", "parrot/grey", env=there).out.strip() == "polly"
    assert "unknown provider 'parrot'" in world.run("run", "polly", "--model", "parrot/grey").err
