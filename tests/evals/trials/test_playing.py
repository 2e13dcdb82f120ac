"""`agentforge eval run | show | list | export` as a user types them, with the scripted answers of three tasks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.evals.trials.results import FILE

THREE = ("--only", "fix-leap-year", "--only", "ask-sort", "--only", "analyze-who-calls")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "af"))
    return tmp_path


def test_tasks_are_played_judged_kept_resumed_and_shown(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["eval", "run", "own", "--model", "scripted", *THREE, "--out", str(home / "e")]
    assert run([*arguments, "--parallel", "3", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert {row["task"]: row["verdict"] for row in told["rows"]} == dict.fromkeys(
        ("analyze-who-calls", "ask-sort", "fix-leap-year"), "right"
    )
    assert told["complete"] and told["models"][0]["right"]["n"] == 3
    fixed = next(row for row in told["rows"] if row["task"] == "fix-leap-year")
    assert fixed["hidden"] == {"passed": True, "failures": []}
    assert (
        fixed["calls"] == 5 and fixed["wall_s"] > 0 and {"red", "green"} <= {stage["name"] for stage in fixed["stages"]}
    )
    trail = home / "e" / fixed["folder"] / "repo" / ".agentforge" / "tasks" / fixed["run_id"] / "events.jsonl"
    assert trail.is_file() and "is_leap(2400)" not in trail.read_text()

    lines = (home / "e" / FILE).read_text().splitlines()
    (home / "e" / FILE).write_text(
        "\n".join([lines[0], *(line for line in lines[1:] if "ask-sort" not in line)]) + "\n"
    )
    assert run([*arguments, "--resume"]) == 0
    out = capfd.readouterr().out
    assert "1 tasks, kept in" in out and "ask-sort" in out and "fix-leap-year" not in out.partition("own,")[0]

    assert run(["eval", "show", str(home / "e"), "--against", str(home / "e"), "--html", str(home / "r.html")]) == 0
    assert "0 better, 0 worse, 3 the same of 3" in capfd.readouterr().out
    assert 'href="e/' in (home / "r.html").read_text()


def test_a_wrong_answer_is_not_counted_right(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "run", "own", "--model", "scripted:wrong", "--only", "analyze-*"]) == 4
    out = capfd.readouterr().out
    assert "analyze-where-tax  wrong" in out and "right 0 (0%" in out
    assert run(["eval", "list", "--json"]) == 0
    (one,) = json.loads(capfd.readouterr().out)["evaluations"]
    assert (one["set"], one["played"], one["wrong"]) == ("own", 1, 1)


def test_a_process_that_breaks_leaves_a_failed_row(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(home))
    (home / "agentforge").mkdir()  # shadows nothing here, but everything in the child
    (home / "agentforge" / "__init__.py").write_text("raise SystemExit('no memory')\n")
    assert run(["eval", "run", "own", "--model", "scripted", "--only", "ask-sort", "--min-right", "50"]) == 4
    out = capfd.readouterr().out
    assert "the process ended with 1: no memory" in out and "fewer than 50 % are right: scripted 0 of 1" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("own", "--model", "scripted", "--only", "nothing"), "no such task"),
        (("own", "--model", "scripted:other"), "no task has the answers other"),
        (("own", "--model", "nobody/x"), "nobody"),
        (("own",), "no model"),
        (("own", "--model", "scripted", "--resume"), "was interrupted"),
        (("own", "--model", "scripted", "--set", "x"), "no value"),
        (("own", "--model", "scripted", "--against", "old"), "no evaluation 'old'"),
    ],
)
def test_bad_arguments_play_nothing(arguments: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "run", *arguments]) != 0
    assert said in capfd.readouterr().err


def test_exported_tasks_are_judged_outside_by_the_same_tests(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "export", "own", str(home / "h"), "--to", "harbor", *THREE]) == 0
    assert run(["eval", "export", "own", str(home / "i"), "--to", "inspect", *THREE]) == 0
    assert run(["eval", "export", "own", str(home / "i"), "--to", "inspect"]) == 2
    assert "is not empty" in capfd.readouterr().err
    samples = [json.loads(line) for line in (home / "i" / "dataset.jsonl").read_text().splitlines()]
    assert [one["id"] for one in samples] == ["analyze-who-calls", "ask-sort", "fix-leap-year"]
    assert "1900" not in samples[2]["files"]["clock.py"]
    for name in ("analyze-who-calls", "ask-sort", "fix-leap-year"):
        assert _judged(home / "h" / name, answered=False) == 1
        assert _judged(home / "h" / name, answered=True) == 0


def _judged(task: Path, *, answered: bool) -> int:
    """What Harbor does: the repository of the environment, the solution over it, the judge."""
    place = task / "place"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(task / "environment" / "repository", place)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q", "."], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run([*git, *arguments], cwd=place, check=True)
    if answered:
        shutil.copytree(task / "solution" / "reference", place, dirs_exist_ok=True)
    done = subprocess.run([sys.executable, task / "tests" / "judge.py", task / "tests", place], capture_output=True)
    return done.returncode
