"""A settings file that was valid is not judged again; another one, or another version's verdict, is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.config import settings as known_module
from agentforge.config.settings import Known, load
from agentforge.errors import ConfigError

GOOD = '[limits]\nmax_steps = 7\n[test]\npython = "/usr/bin/python3"\n'


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A project with a settings file, and a home of its own."""
    (tmp_path / "project" / ".agentforge").mkdir(parents=True)
    (tmp_path / "project" / ".agentforge" / "config.toml").write_text(GOOD)
    return tmp_path / "project", {"HOME": str(tmp_path), "AGENTFORGE_HOME": str(tmp_path / "af")}


def test_what_is_remembered_is_what_was_read(place: tuple[Path, dict[str, str]]) -> None:
    cwd, environ = place
    first, second = load(cwd, environ), load(cwd, environ)
    assert [layer.judged for layer in (*first.layers, *second.layers) if layer.project] == [False, True]
    assert first.values == second.values and first.digest() == second.digest()
    assert first.origin("limits.max_steps") == second.origin("limits.max_steps")
    assert second.origin("limits.max_steps").endswith("config.toml:2")


def test_a_known_file_is_neither_parsed_nor_judged(place: tuple[Path, dict[str, str]]) -> None:
    cwd, environ = place
    load(cwd, environ)
    program = "import sys; from pathlib import Path; from agentforge.config.settings import load; load(Path(sys.argv[1]), {'HOME': '/none', 'AGENTFORGE_HOME': sys.argv[2]}); print({'tomllib', 'jsonschema_rs'} & set(sys.modules))"
    argv = [sys.executable, "-c", program, str(cwd), environ["AGENTFORGE_HOME"]]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "set()\n"


def test_one_changed_sign_is_a_new_file(place: tuple[Path, dict[str, str]]) -> None:
    cwd, environ = place
    load(cwd, environ)
    (cwd / ".agentforge" / "config.toml").write_text(GOOD.replace("max_steps", "max_step"))
    for _ in range(2):  # a refusal is not remembered as a pardon
        with pytest.raises(ConfigError, match=r"unknown setting limits\.max_step"):
            load(cwd, environ)


def test_a_users_pardon_is_no_projects(place: tuple[Path, dict[str, str]]) -> None:
    cwd, environ = place
    text = '[sandbox]\nkind = "none"\n'
    (Path(environ["AGENTFORGE_HOME"]) / "config").mkdir(parents=True)
    (Path(environ["AGENTFORGE_HOME"]) / "config" / "config.toml").write_text(text)
    load(cwd, environ)
    (cwd / ".agentforge" / "config.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"a project may not set sandbox\.kind"):
        load(cwd, environ)


def test_another_version_judges_anew(place: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    cwd, environ = place
    load(cwd, environ)
    monkeypatch.setattr(known_module, "__version__", "999")
    assert [layer.judged for layer in load(cwd, environ).layers if layer.project] == [False]


@pytest.mark.parametrize("damage", ["", "{", "[1]", "\udcff"])
def test_a_damaged_memory_is_none(place: tuple[Path, dict[str, str]], damage: str) -> None:
    cwd, environ = place
    load(cwd, environ)
    (file,) = (Path(environ["AGENTFORGE_HOME"]) / "data" / "settings").iterdir()
    file.write_bytes(damage.encode("utf-8", "surrogateescape"))
    assert load(cwd, environ).number("limits.max_steps") == 7


def test_a_home_that_cannot_be_written_is_no_error(place: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    cwd, _ = place
    (tmp_path / "file").write_text("")
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "file")}
    assert load(cwd, environ).number("limits.max_steps") == 7


def test_values_that_json_would_change_are_not_kept(place: tuple[Path, dict[str, str]]) -> None:
    _, environ = place
    known = Known(environ)
    known.remember("text", {"a": {1: "b"}}, project=True)  # type: ignore[dict-item]
    assert known.recall("text", project=True) is None
