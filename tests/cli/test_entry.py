"""The way in: errors, forms and exit codes, as a user meets them."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.cli.startup.form import wanted_form
from agentforge.cli.startup.lazy import COMMANDS


def _process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-m", "agentforge", *arguments],
        capture_output=True,
        text=True,
        env=environ,
        stdin=subprocess.DEVNULL,
    )


def test_the_version_is_one_line() -> None:
    from agentforge import __version__

    done = _process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"agentforge {__version__}\n", "")


def test_without_arguments_and_without_anybody_to_talk_to_the_commands_are_listed() -> None:
    done = _process()
    assert done.returncode == 0
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["strat"], "error[usage]: unknown command 'strat' - did you mean `agentforge start`?\n"),
        (["qqq"], "error[usage]: unknown command 'qqq' - see `agentforge --help`\n"),
        (["start"], 'error[usage]: the request is empty - say what should change: agentforge start "..."\n'),
        (["start", "  "], 'error[usage]: the request is empty - say what should change: agentforge start "..."\n'),
        (["start", "x", "--cwd", "nowhere"], "is not a folder - pass a folder to --cwd\n"),
        (["start", "x", "--max-steps", "0"], "'0' is not a number greater than 0"),
        (["start", "x", "--deadline", "soon"], "'soon' is not a duration"),
        (["resolve", "E1"], "error[usage]: no decision was given - pass one of --answer"),
        (
            ["policy"],
            "error[usage]: agentforge policy needs a command - one of add, modes, rules, test; see `agentforge policy",
        ),
        (["completion"], "error[usage]: Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish - see"),
        (["dashboard", "--port", "abc"], "'abc' is not a whole number"),
        (["metrics", "--since", "yesterday"], "'yesterday' is not a day such as 2026-11-21"),
        (["repo", "add", "nowhere"], "is not a folder - name the folder of a repository\n"),
        (["resolve", "E1", "--approve", "--abort"], "error[usage]: 2 decisions were given"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_stage_that_does_not_exist_is_named_beside_those_that_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.chdir(tmp_path)
    assert run(["start", "x", "--approve", "shipping"]) == 2
    assert "error[usage]: --approve shipping: no such stage - one of intake" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["config", "contracts", "keys", "model", "queue", "repo", "sessions", "skills", "tools", "violations"]
)
def test_a_group_without_a_command_does_the_usual_with_its_options(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    plain = run([name])
    alone = capsys.readouterr().out
    assert run([name, "--json"]) == plain
    json.loads(capsys.readouterr().out)
    assert run([name, "show" if name == "config" else "list"]) == plain
    assert capsys.readouterr().out == alone


def test_an_error_is_in_the_json_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["start", "--json", "--bogus"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["error"]["slug"] == "usage"
    assert json.loads(captured.out)["outcome"] == "failed"
    assert captured.err.startswith("error[usage]: No such option")
    assert run(["start", "", "--output-format=stream-json"]) == 2
    assert json.loads(capsys.readouterr().out)["type"] == "result"


def test_wrong_settings_stop_a_command_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".agentforge").mkdir()
    (tmp_path / ".agentforge" / "config.toml").write_text("[limits]\nmax_stesp = 1\n")
    assert run(["config", "show"]) == 2
    assert "config.toml:2: unknown setting limits.max_stesp - did you mean limits.max_steps?" in capsys.readouterr().err


def test_an_unforeseen_error_leaves_its_details_in_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> None:
    script = tmp_path / "crash.py"
    script.write_text(
        "import sys\nfrom agentforge.cli.startup import lazy\nfrom agentforge.cli.startup.entry import run\n"
        "lazy.COMMANDS['boom'] = ('nowhere:x', '')\nsys.exit(run(['boom']))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error[internal]: ModuleNotFoundError: ")
    assert "Traceback" not in done.stderr
    (details,) = (home / "af" / "data" / "crashes").iterdir()
    assert str(details) in done.stderr
    assert "Traceback" in details.read_text()
    assert details.stat().st_mode & 0o777 == 0o600


def test_what_the_system_refuses_is_told_by_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_arguments: list[str]) -> int:
        raise PermissionError(13, "Permission denied", "/root/audit.pdf")

    monkeypatch.setattr("agentforge.cli.startup.entry._invoke", refused)
    assert run(["status"]) == 7
    assert "error[storage]: /root/audit.pdf: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "free some space"), (errno.EROFS, "AGENTFORGE_HOME"), (errno.ENOLCK, "cannot lock files")],
)
def test_what_a_file_system_cannot_do_is_one_line_with_what_to_do(
    number: int, remedy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    def failed(_arguments: list[str]) -> int:
        raise OSError(number, os.strerror(number), "/home/ann/x")

    monkeypatch.setattr("agentforge.cli.startup.entry._invoke", failed)
    assert run(["status"]) == 7
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error[storage]: /home/ann/x: {os.strerror(number)} - ") and remedy in line
    assert not (home / "af" / "data" / "crashes").exists()


def test_a_locale_without_the_names_of_files_is_told_in_one_line(home: Path) -> None:
    """The doctor lays out a file whose name is beyond ASCII."""
    told = _process("doctor", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert told.returncode == 7
    (line,) = told.stderr.splitlines()
    assert line.startswith("error[toolchain]: ") and "ascii" in line and "PYTHONUTF8=1" in line
    assert not (home / "af" / "data" / "crashes").exists()


def test_a_reader_that_leaves_is_met_quietly() -> None:
    command = f"{sys.executable} -m agentforge config show | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        (["start", "x"], "text"),
        (["start", "x", "--json"], "json"),
        (["start", "--output-format", "stream-json", "x"], "stream-json"),
        (["start", "--output-format=json", "x"], "json"),
        (["start", "--output-format"], "text"),
        (["start", "--", "--json"], "text"),
    ],
)
def test_the_form_is_known_before_parsing(arguments: list[str], form: str) -> None:
    assert wanted_form(arguments) == form


def test_completion_knows_commands_and_flags() -> None:
    done = _process(_AGENTFORGE_COMPLETE="bash_complete", COMP_WORDS="agentforge st", COMP_CWORD="1")
    assert done.stdout.split() == ["plain,start", "plain,status", "plain,stages"]
    done = _process(_AGENTFORGE_COMPLETE="bash_complete", COMP_WORDS="agentforge start --max", COMP_CWORD="2")
    assert done.stdout.split() == ["plain,--max-steps"]
