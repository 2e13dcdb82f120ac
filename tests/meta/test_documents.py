"""What is generated is current, what is locked agrees, and nothing refers to a place outside of the repository."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agentforge import errors
from agentforge.errors import AgentForgeError

_PRIVATE = re.compile(
    "|".join(("/work" + "/(?:main|shared)", r"\.\./" + "shared", "broker" + r"\.py", r"/root/" + r"\."))
)


def test_the_documented_command_line_is_that_of_the_program(root: Path) -> None:
    """In a process of its own: a command remembers the options by which another test asked it for help."""
    code = "import sys, cli_docs; sys.stdout.write(cli_docs.document())"
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=root / "scripts", capture_output=True, text=True, check=True
    )
    assert (root / "docs" / "cli.md").read_text(encoding="utf-8") == made.stdout, "run `make golden`"


def test_the_documented_modes_are_those_of_the_program(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("permissions_docs", root / "scripts" / "permissions_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.PAGE.read_text(encoding="utf-8")
    assert text == module.page(text), "run `make golden`"
    assert all(f"| `{mode}` |" in text for mode in module.Mode)


def test_the_reference_pages_are_those_of_the_program(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("reference_docs", root / "scripts" / "reference_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.pages().items():
        assert (module.FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run `make golden`"


def test_every_error_has_a_row_that_says_what_to_do(root: Path) -> None:
    text = (root / "docs" / "failures.md").read_text(encoding="utf-8")
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AgentForgeError)]
    slugs = {kind.slug for kind in kinds}
    told = {"limit": "exit 6"}
    assert [slug for slug in sorted(slugs) if told.get(slug, f"`error[{slug}]`") not in text] == []


def test_pip_and_uv_install_the_same_versions(root: Path) -> None:
    locked = {
        package["name"]: package["version"]
        for package in tomllib.loads((root / "uv.lock").read_text())["package"]
        if "registry" in package["source"]
    }
    listed = dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", (root / "requirements.lock").read_text(), re.MULTILINE))
    assert listed == locked, "run `make lock`"


def test_nothing_refers_to_a_private_place(root: Path) -> None:
    found = []
    for path in _files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(root)}:{number} {line.strip()[:80]}"
            for number, line in enumerate(text.splitlines(), start=1)
            if _PRIVATE.search(line)
        ]
    assert found == []


def test_every_target_of_the_makefile_has_a_description(root: Path) -> None:
    text = (root / "Makefile").read_text()
    names = set(re.findall(r"^([a-z]+):", text, re.MULTILINE))
    described = set(re.findall(r"^([a-z]+):.*## ", text, re.MULTILINE))
    assert names == described
    shown = subprocess.run(["make", "-s", "-C", str(root)], capture_output=True, text=True, check=True).stdout
    assert all(f"make {name} " in shown for name in names)


@pytest.mark.parametrize("script", ["scripts/setup.sh", ".ci/run"])
def test_a_script_is_sound_shell_and_can_be_run(root: Path, script: str) -> None:
    assert (root / script).stat().st_mode & 0o100
    subprocess.run(["bash", "-n", script], cwd=root, check=True)


def _files(root: Path) -> list[Path]:
    folders = [root / name for name in ("src", "tests", "docs", "scripts", "bench", ".ci")]
    inside = [
        path for folder in folders for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    return inside + [
        path
        for path in root.iterdir()
        if path.is_file() and path.suffix in (".md", ".toml", "") and path.name != ".git"
    ]
