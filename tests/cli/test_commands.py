"""Commands that need no run, and those that look at the tasks of a repository."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentforge.cli.commands.setup.config import shown_value
from agentforge.cli.commands.tasks.resolve import decision_of
from agentforge.cli.commands.tasks.start import stage_names
from agentforge.cli.startup.command_context import _tell_once, open_place
from agentforge.cli.startup.entry import run
from agentforge.cli.startup.lazy import COMMANDS
from agentforge.pipeline.stages import ORDER
from agentforge.workspace.sandbox.box import landlock_missing_because


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert run(arguments) == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a repo ä"
    folder.mkdir()
    for command in (["init", "-q", "-b", "main"], ["config", "user.email", "a@b"], ["config", "user.name", "A"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "test_x.py").write_text("def test_x():\n    assert True\n")
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-qm", "base"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_shows_at_least_two_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    _, _, examples = capsys.readouterr().out.partition("Examples:")
    assert examples.count("agentforge ") >= 2


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (("design", "commit"), ("spec", "deliver")),
        (("code", "tests", "plan"), ("spec", "red", "green")),
        (("GREEN", "code"), ("green",)),
        ((), ()),
    ],
)
def test_approve_takes_stages_and_aliases(words: tuple[str, ...], stages: tuple[str, ...]) -> None:
    assert stage_names(words, ORDER) == stages


def test_one_decision_is_read() -> None:
    given = {"answer": None, "approve": False, "reject": "too wide", "abort": False}
    assert decision_of(given) == ("reject", "too wide")


def test_stages_are_listed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "stages", "--json")
    assert [row["name"] for row in rows] == [
        "intake",
        "clarify",
        "analyze",
        "spec",
        "red",
        "green",
        "refactor",
        "deliver",
    ]
    assert next(row for row in rows if row["name"] == "spec")["aliases"] == ["design", "plan"]
    assert run(["stages"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("intake ")


def test_settings_are_shown_with_their_origin(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".agentforge").mkdir()
    (tmp_path / ".agentforge" / "config.toml").write_text('[test.env]\nMY_TOKEN = "abc"\nPLAIN = "x"\n')
    rows = {row["key"]: row for row in _json(capsys, "config", "show", "--json")}
    assert rows["test.env.PLAIN"]["origin"].endswith("config.toml:3")
    assert rows["test.env.MY_TOKEN"]["value"] == "***"
    assert rows["limits.max_steps"] == {"key": "limits.max_steps", "value": 200, "origin": "default"}
    assert run(["config", "show"]) == 0
    assert "abc" not in capsys.readouterr().out


def test_a_secret_is_hidden_only_where_variables_stand() -> None:
    assert shown_value("mcp_servers.x.env.API_KEY", "s") == "***"
    assert shown_value("model.max_output_tokens", 5) == 5


def test_paths_are_shown_even_with_broken_settings(
    capsys: pytest.CaptureFixture[str], home: Path, tmp_path: Path
) -> None:
    (tmp_path / ".agentforge").mkdir()
    (tmp_path / ".agentforge" / "config.toml").write_text("broken")
    paths = _json(capsys, "config", "path", "--json")
    assert paths["user_settings"] == {"path": str(home / "af/config/config.toml"), "exists": False}
    assert paths["project_settings"]["exists"]


def test_the_doctor_looks_at_everything(capsys: pytest.CaptureFixture[str], repo: Path) -> None:
    found = _json(capsys, "doctor", "--json")
    assert found["ok"]
    checks = {check["name"]: check for check in found["checks"]}
    assert list(checks) == [
        "settings", "python", "git", "repository", "bubblewrap", "escapes", "attacks", "injections", "tests", "ripgrep", "ruff",
        "ty", "model", "data folder", "stages", "hooks", "mcp servers", "skills", "screen", "terminal", "trust",
    ]  # fmt: skip
    tried = {one["name"]: one for one in found["escapes"]}
    assert {"home", "outside", "hook", "tcp", "udp", "dns", "alive", "threads", "memory", "output"} <= set(tried)
    assert all(one["held"] for name, one in tried.items() if name != "threads"), tried
    assert checks["repository"]["message"].startswith(str(repo))
    assert checks["bubblewrap"]["message"].endswith("ran a command")
    assert checks["tests"]["message"].startswith("pytest: ")
    assert found["warnings"] == sum(check["status"] == "warning" for check in found["checks"])


def test_the_doctor_says_what_is_missing_and_ends_with_seven(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    found = _json(capsys, "doctor", "--json", code=7)
    wrong = {check["name"]: check for check in found["checks"] if check["status"] == "error"}
    assert set(wrong) == {"git", "bubblewrap"} if landlock_missing_because() else {"git"}
    assert wrong["git"]["detail"] == "install git (apt install git)"
    assert found["errors"] == len(wrong)
    assert run(["doctor"]) == 7
    told = capsys.readouterr().out
    assert "bubblewrap" in told and "install git" in told


def test_the_doctor_sees_a_data_folder_that_cannot_lock_and_a_python_without_sqlite(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, repo: Path, home: Path
) -> None:
    def without_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("agentforge.app.setup.diagnostics.fcntl.flock", without_locks)
    monkeypatch.setitem(sys.modules, "_sqlite3", None)
    checks = {one["name"]: one for one in _json(capsys, "doctor", "--json", code=7)["checks"]}
    assert checks["data folder"]["status"] == "error" and str(home / "af" / "data") in checks["data folder"]["message"]
    assert "a folder on a local disk" in checks["data folder"]["detail"]
    assert checks["python"]["status"] == "warning" and "sqlite3" in checks["python"]["detail"]


def test_the_doctor_tells_in_about_ten_lines_what_is_needed_and_all_of_it_on_demand(
    capsys: pytest.CaptureFixture[str], repo: Path
) -> None:
    checks = _json(capsys, "doctor", "--json", code=0)["checks"]
    assert run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = [line.split("  ")[0] for line in lines[1:6]]
    assert {"model", "tests", "repository", "sandbox"} <= {line.split("  ")[0] for line in lines}
    assert first[0] == "model" and "1 test" in lines[2]
    assert len(lines) <= 10 + sum(check["status"] != "ok" for check in checks) + 3
    assert run(["doctor", "--all"]) == 0
    everything = capsys.readouterr().out
    assert all(f"\n{check['name']}  " in everything for check in checks)


def test_the_doctor_finds_wrong_settings_and_goes_on(capsys: pytest.CaptureFixture[str], repo: Path) -> None:
    (repo / ".agentforge").mkdir()
    (repo / ".agentforge" / "config.toml").write_text("x = 1\n")
    found = _json(capsys, "doctor", "--json", code=7)
    assert found["checks"][0]["status"] == "error"
    assert "unknown setting x" in found["checks"][0]["message"]
    assert len(found["checks"]) == 21  # what is wrong with one does not hide the others


def test_what_is_left_out_of_the_models_is_named_on_standard_error(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-o")
    (home / "af" / "config").mkdir(parents=True)
    (home / "af" / "config" / "config.toml").write_text("[model]\nname = 'openai/m'\nfallbacks = ['anthropic/s']\n")
    (repo / ".env").write_text("OPENROUTER_API_KEY=sk-or-1\nDEBUG=1\n")
    _tell_once.cache_clear()
    assert run(["status"]) == 0
    assert capsys.readouterr().err == ""  # it asks no model
    open_place(str(repo), asks=True)
    open_place(str(repo), asks=True)
    told = capsys.readouterr().err
    assert (told.count(str(repo / ".env")), told.count("ANTHROPIC_API_KEY"), told.count("sk-or-1")) == (1, 1, 0)
    assert run(["trust", "--yes"]) == 0
    capsys.readouterr()
    _tell_once.cache_clear()
    open_place(str(repo), asks=True)
    told = capsys.readouterr().err
    assert ("ANTHROPIC_API_KEY" in told, ".env" in told) == (True, False)


def test_contracts_of_the_folder_that_the_registry_names_are_listed(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "contracts").mkdir()
    (repo / "contracts" / "note.yaml").write_text('contract: note\nversion: "1.0"\nschema:\n  text: {type: string}\n')
    assert run(["repo", "add", ".", "--contracts-path", "contracts", "--name", "here"]) == 0
    capsys.readouterr()
    (own,) = [row for row in _json(capsys, "contracts", "list", "--json") if row["name"] == "note"]
    assert own["origin"] == str(repo / "contracts" / "note.yaml")


def test_all_includes_the_repository_around_although_nobody_added_it(
    repo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [row["path"] for row in _json(capsys, "status", "--all", "--json")] == [str(repo)]
    other = tmp_path / "b" / repo.name.replace(" ", "-")
    subprocess.run(["git", "clone", "-q", str(repo), str(other)], check=True)
    assert run(["repo", "add", str(other), "--name", "known"]) == 0
    capsys.readouterr()
    assert [row["name"] for row in _json(capsys, "status", "--all", "--json")] == ["known", repo.name]
    assert run(["repo", "add", ".", "--name", "here"]) == 0
    capsys.readouterr()
    assert [row["name"] for row in _json(capsys, "status", "--all", "--json")] == ["known", "here"]


def test_contracts_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "contracts", "list", "--json")
    assert [row["name"] for row in rows][:2] == ["intake_record", "clarification"]
    assert {row["origin"] for row in rows} == {"builtin"}
    shown = _json(capsys, "contracts", "show", "test_suite", "--json")
    assert shown["schema"]["type"] == "object"
    assert run(["contracts", "show", "test_suite"]) == 0
    assert capsys.readouterr().out.startswith("contract: test_suite\n")
    assert run(["contracts", "show", "test_suit"]) == 2
    assert "error[contract-invalid]" in capsys.readouterr().err


def test_an_artifact_is_checked_and_every_failure_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "specification.yaml").write_text("spec_id: S\nrequirements:\n- id: REQ-2\n  description: x\n")
    found = _json(capsys, "contracts", "check", "specification.yaml", "--json", code=4)
    failed = [check for check in found["checks"] if check["status"] == "failed"]
    assert not found["ok"]
    assert any(check["path"] == "requirements[0].id" for check in failed)
    assert len(failed) > 2
    assert run(["contracts", "check", "specification.yaml"]) == 4
    captured = capsys.readouterr()
    assert "x schema requirements[0].id: " in captured.out
    assert "error[verification]: specification.yaml does not fulfil specification" in captured.err


def test_rules_about_measurements_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("suite_id: S\nspec_ref: X\ntest_files: 7\n")
    found = _json(capsys, "contracts", "check", "suite.yaml", "--contract", "test_suite", "--json", code=4)
    statuses = {check["rule"]: check["status"] for check in found["checks"]}
    assert statuses["schema"] == "failed"
    assert "not checked" in statuses.values()
    assert run(["contracts", "check", "suite.yaml", "--contract", "test_suite"]) == 4
    assert "(needs a run)" in capsys.readouterr().out


def test_a_contract_of_ones_own_is_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("contract: note\nversion: '1'\ndescription: d\nschema:\n  text: {type: string, required: true}\n")
    assert _json(capsys, "contracts", "check", "own.yaml", "--json") == {"ok": True, "contract": "note", "rules": 0}
    own.write_text(own.read_text() + "validation:\n- the moon is full\n")
    assert run(["contracts", "check", "own.yaml"]) == 2
    assert "unknown rule 'the moon is full'" in capsys.readouterr().err


@pytest.mark.parametrize(("data", "message"), [(None, "cannot be read"), (b"\xff\xfe", "cannot be read")])
def test_a_file_that_cannot_be_read_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes | None, message: str
) -> None:
    if data is not None:
        (tmp_path / "f.yaml").write_bytes(data)
    assert run(["contracts", "check", "f.yaml", "--contract", "analysis"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_AGENTFORGE_COMPLETE" in capsys.readouterr().out


def test_a_request_can_come_from_standard_input(repo: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentforge", "start", "-", "--json"], input=b" \n", capture_output=True, cwd=repo
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["message"] == "the request is empty"


def test_a_repository_without_tasks_says_how_to_begin(capsys: pytest.CaptureFixture[str], repo: Path) -> None:
    assert _json(capsys, "status", "--json") == []
    assert _json(capsys, "escalations", "list", "--json") == []
    assert run(["status"]) == 0
    assert capsys.readouterr().out == 'no tasks yet; begin with: agentforge start "..."\n'
    assert run(["escalations", "list"]) == 0
    assert capsys.readouterr().out == "nothing waits for you\n"
    assert run(["escalations", "show", "E1"]) == 2
    assert "there is no escalation 'E1'" in capsys.readouterr().err


def test_outside_of_a_repository_the_commands_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status"]) == 2
    assert capsys.readouterr().err.startswith("error[repository]: ")
