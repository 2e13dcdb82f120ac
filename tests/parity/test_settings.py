"""Settings of the older harness that were once accepted here without being read; each changes what happens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentforge.cli.output.errors import report_internal
from agentforge.cli.startup.command_context import open_working_place
from agentforge.config.settings import load
from agentforge.config.trust import grant, trusted
from agentforge.errors import ConfigError, UsageError

Config = Callable[[str], Path]
Play = Callable[..., list[str]]

_SEEN = 'echo "<$GOPATH>" "<$MY_KEY>" "<$DATABASE>" "<$ADDED>"'


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOPATH", "MY_KEY", "DATABASE"):
        monkeypatch.setenv(name, name.lower())


def _seen(play: Play) -> str:
    (told,) = play(("shell", {"command": _SEEN}))
    return next(line for line in told.splitlines() if line.startswith("<") and ">" in line and "untrusted" not in line)


def test_commands_see_no_keys_and_what_the_user_adds(config: Config, play: Play, variables: None) -> None:
    assert _seen(play) == "<gopath> <> <> <>"
    config('[shell_environment]\nexclude_patterns = ["go*"]\nset_vars = {ADDED = "yes"}\n')
    assert _seen(play) == "<> <> <> <yes>"


def test_the_default_excludes_can_be_ignored_by_the_user(config: Config, play: Play, variables: None) -> None:
    config("[shell_environment]\nignore_default_excludes = true\n")
    assert _seen(play) == "<gopath> <my_key> <database> <>"
    config('[shell_environment]\nignore_default_excludes = true\nexclude_patterns = ["DATA*"]\n')
    assert _seen(play) == "<gopath> <my_key> <> <>"


def test_a_project_adds_variables_after_trust(folder: Path, environ: dict[str, str], play: Play) -> None:
    (folder / ".agentforge").mkdir()
    (folder / ".agentforge" / "config.toml").write_text('[shell_environment.set_vars]\nADDED = "by the project"\n')
    assert _seen(play).endswith("<>")
    grant(trusted(folder, environ), environ, now="2026-01-01T00:00:00Z")
    assert _seen(play).endswith("<by the project>")


_TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_redaction_and_hygiene_can_be_switched_off_by_the_user(config: Config, play: Play, folder: Path) -> None:
    (folder / "a.txt").write_text(f"\x1b[31mred\x1b[0m {_TOKEN}\n")
    command = ("shell", {"command": "cat a.txt"})
    (told,) = play(command)
    assert _TOKEN not in told and "\x1b" not in told
    config("redaction_enabled = false\noutput_hygiene_enabled = false\n")
    (told,) = play(command)
    assert _TOKEN in told and "\x1b[31m" in told


def test_known_keys_stay_secret_even_without_redaction(
    config: Config, play: Play, folder: Path, environ: dict[str, str]
) -> None:
    environ["OPENAI_API_KEY"] = "a-key-of-the-user-0001"
    (folder / "a.txt").write_text("a-key-of-the-user-0001\n")
    config("redaction_enabled = false\n")
    (told,) = play(("read_file", {"path": "a.txt"}))
    assert "a-key-of-the-user" not in told


def test_the_fence_around_results_can_be_switched_off(config: Config, play: Play, folder: Path) -> None:
    (folder / "a.txt").write_text("text\n")
    assert "<untrusted " in play(("read_file", {"path": "a.txt"}))[0]
    config("prompt_injection_protection_enabled = false\n")
    assert "<untrusted " not in play(("read_file", {"path": "a.txt"}))[0]


def test_results_are_cut_to_their_setting(config: Config, play: Play, folder: Path) -> None:
    (folder / "a.txt").write_text("word " * 4000)
    config("max_tool_output_tokens = 200\n")
    (told,) = play(("shell", {"command": "cat a.txt"}))
    assert len(told) < 2000


def test_cwd_says_where_a_conversation_happens(
    config: Config, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config(f'cwd = "{folder}"\n')
    assert open_working_place(None).cwd == folder
    assert open_working_place(str(tmp_path)).cwd == tmp_path


def test_the_cwd_of_a_project_stays_inside(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".agentforge").mkdir()
    (folder / "src").mkdir()
    (folder / "src" / "deep").mkdir()
    settings = folder / ".agentforge" / "config.toml"
    monkeypatch.chdir(folder / "src" / "deep")
    settings.write_text('cwd = "src"\n')
    assert open_working_place(None).cwd == folder / "src"
    settings.write_text('cwd = "../.."\n')
    with pytest.raises(UsageError, match="out of the project"):
        open_working_place(None)


def test_debug_shows_where_an_error_came_from(
    config: Config, environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    report_internal(ValueError("odd"), form="text", environ=environ)
    assert "Traceback" not in capsys.readouterr().err
    config("debug = true\n")
    report_internal(ValueError("odd"), form="text", environ=environ)
    assert "ValueError: odd\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("aproval = 'auto'", "did you mean approval?"),
        ("[model]\nfallback = []", "did you mean model.fallbacks?"),
        ("[shell_environment]\nset_var = {}", "did you mean shell_environment.set_vars?"),
        ("[[hooks]]\nname = 'a'\ntrigger = 'before_tool'\nfailclosed = true", "hooks"),
        ("[mcp_servers.a]\ncommand = 'x'\nurl = 'http://127.0.0.1'", "mcp_servers.a"),
        ("[mcp_servers.a]\nargs = []", "mcp_servers.a"),
        ("[[subagents]]\nname='a'\ndescription='a'\ngoal_prompt='a'\nmax_turns=101", "max_turns"),
        ("[[subagents]]\nname='a'\ndescription='a'\ngoal_prompt='a'\nmax_turns=0", "max_turns"),
        ("[[subagents]]\nname='a'\ndescription='a'\ngoal_prompt='a'\ntimeout_seconds=9", "timeout_seconds"),
        ("[model]\ntemperature = 2.5", "temperature"),
        ("approval = 'sometimes'", "approval"),
        ("max_turns = 0", "max_turns"),
        ("max_turns = ", "config.toml"),
    ],
)
def test_what_is_not_meant_is_an_error_with_its_place(
    config: Config, folder: Path, environ: dict[str, str], text: str, told: str
) -> None:
    config(text + "\n")
    with pytest.raises(ConfigError) as caught:
        load(folder, environ)
    assert told in str(caught.value)
    assert "config.toml" in str(caught.value)


def test_what_holds_without_any_file(folder: Path, environ: dict[str, str]) -> None:
    settings = load(folder, environ)
    expected: dict[str, Any] = {
        "approval": "on-request",
        "max_turns": 100,
        "max_tool_output_tokens": 50_000,
        "output_hygiene_enabled": True,
        "redaction_enabled": True,
        "prompt_injection_protection_enabled": True,
        "hooks_enabled": False,
        "skills_enabled": True,
        "debug": False,
        "model.context_window": 256_000,
        "model.max_output_tokens": 4096,
        "model.fallbacks": [],
        "shell_environment.ignore_default_excludes": False,
        "shell_environment.exclude_patterns": ["*KEY*", "*TOKEN*", "*SECRET*"],
    }
    assert {key: settings.get(key) for key in expected} == expected


def test_completion_goes_by_its_variable(environ: dict[str, str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        env = {**environ, "_AGENTFORGE_COMPLETE": f"{shell}_source"}
        done = subprocess.run(
            [sys.executable, "-m", "agentforge"], env=env, capture_output=True, text=True, check=False, timeout=30
        )
        assert (done.returncode, "_AGENTFORGE_COMPLETE" in done.stdout) == (0, True), done.stderr
