"""A task set from a real history: made by the command, played by `eval run`, judged by the commit's own tests."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agentforge.cli.commands.evaluation import histories
from agentforge.cli.startup.entry import run
from agentforge.config.settings import load
from agentforge.errors import EXIT_INTERRUPTED
from agentforge.evals.history.commits import History, HistoryCommit
from agentforge.evals.history.requests import action_of, message_of
from agentforge.evals.history.task_set import Made
from agentforge.evals.trials.hidden import hidden_failures
from agentforge.evals.trials.task_sets import load_set
from tests.support.past import Past

BASE = "def first(words):\n    return words[0]\n"
FIXED = 'def first(words):\n    return words[0] if words else ""\n'
OLD_TEST = "from kit import first\n\n\ndef test_one():\n    assert first(['a']) == 'a'\n"
NEW_TEST = (
    OLD_TEST
    + "\n\ndef test_none():\n    assert first([]) == ''\n\n\ndef test_here():\n    assert False, 'never here'\n"
)


@pytest.fixture
def past(history: Past, monkeypatch: pytest.MonkeyPatch) -> Past:
    """A project with a fix, a commit whose test passes before, and one whose test needs what is not here."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    history.commit("base", {"kit.py": BASE, "tests/test_kit.py": OLD_TEST, "pytest.ini": "[pytest]\npythonpath = .\n"})
    history.commit(
        "fix: first() of nothing (#12)\n\nIt raised an IndexError.\n\nFixes #11\nSigned-off-by: A <a@example.org>",
        {"kit.py": FIXED, "tests/test_kit.py": NEW_TEST, "tests/data.json": "{}\n"},
    )
    history.commit("Say it twice", {"README.md": "Kit\n", "tests/test_kit.py": NEW_TEST + "\n# twice\n"})
    history.commit("Ask the service", {"kit.py": FIXED + "\n", "tests/test_kit.py": "import no_such_service\n"})
    return history


def test_a_commit_whose_tests_fail_before_it_becomes_a_task_and_the_others_are_named(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set"

    assert run(["eval", "from-history", str(past.folder), "--last", "9", "--out", str(out)]) == 0

    assert "1 tasks of 4 commits, 3 left out." in capfd.readouterr().out
    (task,) = load_set(str(out)).tasks
    assert task.request == "First() of nothing\n\nIt raised an IndexError."
    assert task.action == "fix"
    assert set(task.hidden) == {"tests/test_kit.py", "tests/data.json"}
    assert task.uncounted == ("tests/test_kit.py::test_here",)
    assert task.source == (str(past.folder), past.git("rev-parse", "HEAD~3^{tree}"))
    assert "unedited" in task.tags
    left = (out / "left-out.txt").read_text("utf-8")
    assert "Say it twice: all of its tests pass before it, too" in left
    assert "Ask the service: its tests do not pass at the commit itself: " in left
    assert "no_such_service" in left
    assert "base: it is the first commit" in left
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_commit_whose_own_new_test_fails_at_the_commit_itself_is_left_out(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    imports = "from kit import first, last\n\n\ndef test_one():\n    assert first(['a']) == 'a'\n"
    past.commit("start again", {"kit.py": FIXED, "tests/test_kit.py": OLD_TEST})
    past.commit("add last", {
        "kit.py": f"{FIXED}\n\ndef last(words):\n    return words[0]\n",
        "tests/test_kit.py": f"{imports}\n\ndef test_last():\n    assert last(['a', 'b']) == 'b'\n",
    })  # fmt: skip
    assert run(["eval", "from-history", str(past.folder), "--last", "1", "--out", str(tmp_path / "set")]) == 4
    told = "add last: left out: the tests that it adds or changes do not pass at the commit itself: test_last"
    assert told in capfd.readouterr().out


def test_the_set_is_played_and_judged_by_the_hidden_tests(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set"
    assert run(["eval", "from-history", str(past.folder), "--commits", "HEAD~2", "--out", str(out)]) == 0
    (folder,) = (path.parent for path in out.glob("*/task.yaml"))
    test = "from kit import first\n\n\ndef test_first_of_nothing():\n    assert first([]) == ''\n"
    answers = {
        "criteria": ["first([]) returns an empty string"],
        "symbols": [{"name": "first", "file": "kit.py", "signature": "(words)", "change": "changed"}],
        "tests": {"tests/test_first.py": test},
        "changes": {"kit.py": FIXED},
        "files": ["kit.py"],
    }
    task = yaml.safe_load((folder / "task.yaml").read_text("utf-8"))
    task["settings"]["test.env"] = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # what lies here doubles every start
    (folder / "task.yaml").write_text(yaml.safe_dump(task), "utf-8")
    (folder / "answers").mkdir()
    (folder / "answers" / "honest.yaml").write_text(yaml.safe_dump(answers), "utf-8")
    capfd.readouterr()

    assert run(["eval", "run", str(out), "--model", "scripted", "--out", str(tmp_path / "played"), "--json"]) == 0

    (row,) = json.loads(capfd.readouterr().out)["rows"]
    assert (row["verdict"], row["why"]) == ("right", "")
    assert row["hidden"] == {"passed": True, "failures": []}


def test_a_model_writes_the_request_from_the_message_and_the_tests(past: Past, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(yaml.safe_dump({"request": [{"text": "first([]) shall return ''."}]}), "utf-8")
    words = ["--commits", "HEAD~2", "--out", str(tmp_path / "set"), "--model", f"scripted/{script}"]

    assert run(["eval", "from-history", str(past.folder), *words]) == 0

    (task,) = load_set(str(tmp_path / "set")).tasks
    assert task.request == "first([]) shall return ''."
    assert task.tags == ("history",)


def test_without_a_task_nothing_is_written(past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "deep" / "set"
    assert run(["eval", "from-history", str(past.folder), "--last", "2", "--out", str(out)]) == 4
    assert "Nothing was written." in capfd.readouterr().out
    assert list((tmp_path / "deep").iterdir()) == []


@pytest.mark.parametrize(
    "config",
    [
        {"pytest.ini": "[pytest]\npythonpath = .\npython_files = check_*.py tests.py\n"},
        {"tox.ini": "[pytest]\npythonpath = .\npython_files =\n    check_*.py\n    tests.py\n"},
        {"setup.cfg": "[tool:pytest]\npythonpath = .\npython_files = check_*.py tests.py\n"},
        {
            "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\npython_files = ["check_*.py", "tests.py"]\n'
        },
    ],
    ids=lambda config: next(iter(config)),
)
@pytest.mark.parametrize("name", ["kit_tests/check_kit.py", "tests.py"])
def test_a_project_names_its_test_files_itself(
    history: Past, tmp_path: Path, config: dict[str, str], name: str
) -> None:
    history.commit("base", {"kit.py": BASE, name: OLD_TEST, **config})
    test = f"{OLD_TEST}\n\ndef test_none():\n    assert first([]) == open('fixtures/none.txt').read()\n"
    history.commit("Fix none", {"kit.py": FIXED, name: test, "fixtures/none.txt": ""})
    out = tmp_path / "set"
    assert run(["eval", "from-history", str(history.folder), "--last", "1", "--out", str(out)]) == 0
    (task,) = load_set(str(out)).tasks
    assert set(task.hidden) == {name, "fixtures/none.txt"}
    settings = load(history.folder, os.environ)
    told = [
        hidden_failures(history.folder, rev, task.hidden, settings=settings, environ=os.environ)
        for rev in ("HEAD", "HEAD~")
    ]
    assert told[0] == () and any("test_none" in one for one in told[1])


def test_a_commit_that_the_judge_of_hidden_tests_refuses_is_left_out_and_named(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The plan of the state before it runs unittest, which takes no function for a test."""
    past.remove("pytest.ini")
    past.commit("no pytest", {"kit.py": BASE, "tests/test_kit.py": "import unittest\n"})
    test = f"{OLD_TEST}\n\ndef test_none():\n    assert first([]) == ''\n"
    past.commit("Fix none", {"kit.py": FIXED, "tests/test_kit.py": test, "pytest.ini": "[pytest]\npythonpath = .\n"})
    assert run(["eval", "from-history", str(past.folder), "--last", "1", "--out", str(tmp_path / "set")]) == 4
    told = capfd.readouterr().out
    assert "the judge of hidden tests refuses the commit itself" in told and "::test_none was not run" in told


def test_a_commit_of_whose_tree_a_file_is_missing_is_left_out_and_the_next_one_is_measured(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    better = f"{OLD_TEST}\n\ndef test_none():\n    assert first([]) == ''\n"
    past.commit("start again", {"kit.py": BASE, "tests/test_kit.py": OLD_TEST, "big.bin": "lost"})
    lost = past.git("rev-parse", "HEAD:big.bin")
    past.commit("Ask for nothing", {"kit.py": FIXED, "tests/test_kit.py": better})
    past.remove("big.bin")
    past.commit("Without it", {"kit.py": BASE, "tests/test_kit.py": OLD_TEST})
    past.commit("Ask again", {"kit.py": FIXED, "tests/test_kit.py": better})
    (past.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    out = tmp_path / "set"
    assert run(["eval", "from-history", str(past.folder), "--commits", "HEAD~2,HEAD", "--out", str(out)]) == 0
    told = capfd.readouterr().out
    assert "Ask for nothing: left out: git cannot give all of its files" in told
    assert [task.request.strip() for task in load_set(str(out)).tasks] == ["Ask again"]


def test_a_terminated_command_leaves_no_folder_and_a_folder_with_a_dot_is_no_task(
    past: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def terminated(*_: object, **__: object) -> Iterator[Made]:
        os.kill(os.getpid(), signal.SIGTERM)
        yield from ()

    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        monkeypatch.setattr(histories, "tasks_from", terminated)
        assert run(["eval", "from-history", str(past.folder), "--out", str(tmp_path / "set")]) == EXIT_INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not [one.name for one in tmp_path.iterdir() if "set" in one.name]
    task = "request: Add it\naction: create\nfiles: {a.py: ''}\nhidden: {test_a.py: ''}\n"
    for name in (".set-1234", "task"):
        (tmp_path / "tasks" / name).mkdir(parents=True)
        (tmp_path / "tasks" / name / "task.yaml").write_text(task)
    assert [one.name for one in load_set(str(tmp_path / "tasks")).tasks] == ["task"]


def test_a_title_that_steers_a_terminal_or_says_nothing_makes_no_file_that_cannot_be_read(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    past.commit("start again", {"kit.py": BASE, "tests/test_kit.py": OLD_TEST})
    better = f"{OLD_TEST}\n\ndef test_none():\n    assert first([]) == ''\n"
    past.commit(
        "fix\x1b[31m the\x07 bell\x0b\x85\u202e\n\nIt rang\x7f.", {"kit.py": FIXED, "tests/test_kit.py": better}
    )
    past.commit("start again", {"kit.py": BASE, "tests/test_kit.py": OLD_TEST})
    past.commit("(#12)", {"kit.py": FIXED, "tests/test_kit.py": better})
    past.commit("\x1b]0;x\x07 only words", {"README.md": "x\n"})
    out = tmp_path / "set"
    assert run(["eval", "from-history", str(past.folder), "--last", "5", "--out", str(out)]) == 0
    (task,) = load_set(str(out)).tasks
    assert task.request.split("\n")[0].startswith("Fix the bell") and "It rang." in task.request
    written = "".join(path.read_text("utf-8") for path in (out / task.name / "task.yaml", out / "left-out.txt"))
    assert not [sign for sign in written if not (sign.isprintable() or sign == "\n")]
    assert "(#12): its message says nothing that could be asked for" in written


def test_a_folder_that_holds_something_and_a_bare_repository_are_refused(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("kept")
    assert run(["eval", "from-history", str(past.folder), "--out", str(tmp_path / "full")]) == 2
    assert "is not empty" in capfd.readouterr().err
    past.git("clone", "-q", "--bare", str(past.folder), str(tmp_path / "bare"))
    assert run(["eval", "from-history", str(tmp_path / "bare"), "--out", str(tmp_path / "set")]) == 2
    assert "is a bare repository" in capfd.readouterr().err
    assert (tmp_path / "full" / "a").read_text() == "kept"


def test_a_message_loses_what_only_the_project_needs(past: Past) -> None:
    commit = next(
        one for one in History(past.folder).read() if isinstance(one, HistoryCommit) and one.subject.startswith("fix")
    )
    assert message_of(commit) == "First() of nothing\n\nIt raised an IndexError."
    assert action_of(commit) == "fix"
