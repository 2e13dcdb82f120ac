"""Which folders and variables a command may see."""

from __future__ import annotations

import sys
from pathlib import Path

from agentforge.workspace.sandbox.toolchain import child_environment, installation_roots, outermost, toolchain_paths


def test_only_named_variables_pass() -> None:
    environ = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "PYTHONPATH": "src",
        "OPENAI_API_KEY": "k",
        "AWS_PROFILE": "p",
        "HTTP_PROXY": "x",
    }
    assert child_environment(environ, {"EXTRA": "1"}) == {
        "PATH": "/bin",
        "LC_ALL": "C",
        "PYTHONPATH": "src",
        "EXTRA": "1",
    }
    assert child_environment({}, {})["PATH"]


def test_a_toolchain_is_shown_but_neither_home_nor_what_lies_above(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (".nvm/versions", ".ssh", ".cargo/bin", "own/bin"):
        (home / name).mkdir(parents=True)
    (home / ".cargo" / "credentials.toml").write_text("secret")
    environ = {"PATH": f"{home}/own/bin:{home}:{tmp_path}:relative:/nowhere", "PYENV_ROOT": str(home)}
    shown = [path for path in toolchain_paths(environ, home=home) if path.is_relative_to(tmp_path)]
    assert shown == [home / ".cargo" / "bin", home / ".nvm", home / "own" / "bin"]


def test_an_environment_leads_to_the_python_that_it_was_made_with(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text("")
    (venv / "pyvenv.cfg").write_text(f"home = {tmp_path}/pythons/3.9/bin\nversion = 3.9\n")
    assert installation_roots(venv / "bin" / "python") == (venv, tmp_path / "pythons" / "3.9")
    assert Path(sys.prefix) in installation_roots(Path(sys.executable))


def test_an_environment_whose_programs_are_on_the_path_is_shown_whole(tmp_path: Path) -> None:
    venv = tmp_path / "home" / "tools"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    shown = toolchain_paths({"PATH": f"{venv}/bin"}, home=tmp_path / "home")
    assert venv in shown and venv / "bin" not in shown


def test_a_path_inside_another_is_dropped() -> None:
    assert outermost([Path("/a/b/c"), Path("/a/b"), Path("/a/bc"), Path("/a/b")]) == (Path("/a/b"), Path("/a/bc"))
