"""Proves that the command for what is missing is the one that fits how AgentForge was installed, and that a user is told it."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.installation import _EXTRAS, command_for, command_that_brings, libraries_of

ROOT = Path(__file__).parents[1]
RECEIPT = """[tool]
requirements = [
    { name = "agentforge-pipeline", extras = ["sign"], %s },
    { name = "tomli-w", specifier = ">=1" },
]
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "an env"
    (folder / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    return folder


def command(prefix: Path) -> str:
    return command_for("pdf", prefix=prefix, executable="/a b/python")


def test_a_virtual_environment_is_told_its_own_pip_or_uv(prefix: Path) -> None:
    assert command(prefix) == "uv pip install --python '/a b/python' 'typst>=0.14'"
    (prefix / "lib" / "python3.11" / "site-packages" / "pip").mkdir()
    assert command(prefix) == "'/a b/python' -m pip install 'typst>=0.14'"


def test_a_tool_of_pipx_is_injected(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").write_text("{}")
    assert command(prefix) == "pipx inject 'an env' 'typst>=0.14'"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ('directory = "/src/agent forge"', "'/src/agent forge[pdf,sign]'"),
        ('editable = "/src/a"', "'/src/a[pdf,sign]'"),
        ('git = "https://forge/a"', "'agentforge-pipeline[pdf,sign] @ git+https://forge/a'"),
        ('specifier = "==1.0"', "'agentforge-pipeline[pdf,sign]==1.0'"),
    ],
)
def test_a_tool_of_uv_keeps_its_source_and_what_it_had(prefix: Path, source: str, told: str) -> None:
    (prefix / "uv-receipt.toml").write_text(RECEIPT % source)
    assert command(prefix) == f"uv tool install {told} --with 'tomli-w>=1'"


def test_a_checkout_is_told_its_make(tmp_path: Path) -> None:
    venv = tmp_path / ".venv"
    venv.mkdir()
    (venv / ".ready").touch()
    assert command(venv) == f"make -C {tmp_path} setup"


def test_every_extra_is_known_and_every_library_of_the_table_comes_with_its_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(_EXTRAS.values()) == set(extras) - {"all", "dev"}
    for extra in set(extras) - {"all", "dev"}:
        assert libraries_of(extra) == tuple(row.partition(";")[0].strip() for row in extras[extra])


def test_a_first_evening_needs_no_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in ("tui", "mcp", "dashboard"):
        assert set(project["optional-dependencies"][extra]) <= set(project["dependencies"])


@pytest.mark.parametrize(
    ("missing", "says"),
    [("sqlalchemy", "sqlalchemy"), ("tomlkit", "tomlkit"), ("_sqlite3", "was built without sqlite3"), ("yaml", "yaml")],
)
def test_a_missing_library_is_one_line_with_the_command(
    missing: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path))
    commands = importlib.import_module("agentforge.cli.commands.tasks.stages")

    def break_off(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(commands.stages, "callback", break_off)
    assert run(["stages"]) == 7
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error[toolchain]: ") and says in line and " - " in line
    assert not (tmp_path / "data" / "crashes").exists()


def test_what_no_library_of_ours_brings_is_not_guessed_at() -> None:
    assert command_that_brings("xyz_unknown") == ""
    assert command_that_brings("agentforge") == ""
    assert "pyyaml" in command_that_brings("yaml") or "make" in command_that_brings("yaml")
