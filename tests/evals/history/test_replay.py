"""Merged commits replayed through the whole pipeline, without a network and without a model: none may be refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.evals.history.replay import recorded, summary_lines
from tests.support.past import Past
from tests.support.world import bare_settings

BASE = '''"""Words."""


def first(words):
    """The first word."""
    return words[0]


def loud(text):
    """Upper case."""
    return text.upper()
'''
CHANGED = BASE.replace("    return words[0]\n", '    return words[0] if words else ""\n') + (
    '\n\ndef last(words):\n    """The last word."""\n    return words[-1]\n'
)
TESTS = """from kit import first, loud


def test_first():
    assert first(["a"]) == "a"


def test_loud():
    assert loud("a") == "A"
"""
CHANGED_TESTS = (
    TESTS.replace("first, loud", "first, last, loud")
    + """

def test_first_of_nothing():
    assert first([]) == ""


def test_last():
    assert last(["a", "b"]) == "b"
    assert last("xyz") == "z"
"""
)


@pytest.fixture
def past(history: Past) -> Past:
    """A project with one change: a fix, a new function, and a note of it in the changes."""
    settings = "[pytest]\npythonpath = .\n"
    history.commit("base", {"kit.py": BASE, "tests/test_kit.py": TESTS, "pytest.ini": settings, "CHANGES.md": "# 1\n"})
    notes = "# 1\n\n- first() of nothing is empty.\n- last() is new.\n"
    history.commit(
        "Fix first() of nothing, and add last()",
        {"kit.py": CHANGED, "tests/test_kit.py": CHANGED_TESTS, "CHANGES.md": notes},
    )
    return history


def test_a_merged_commit_is_delivered_recorded_and_not_played_twice(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "replays"
    command = ["eval", "replay", str(past.folder), "--last", "9", "--out", str(out), "--json"]

    assert run(command) == 0, capfd.readouterr().out

    (base, done) = sorted(
        json.loads(capfd.readouterr().out)["replays"], key=lambda row: str(row["subject"]), reverse=True
    )
    assert (base["outcome"], base["message"]) == ("left out", "it is the first commit: there is no state before it")
    assert (done["outcome"], done["rules"], done["action"], done["targets"]) == ("delivered", [], "fix", 4)
    lines = (out / "results.jsonl").read_text("utf-8")
    assert run(command) == 0
    assert (out / "results.jsonl").read_text("utf-8") == lines


def test_a_commit_is_played_with_the_variables_with_which_its_tests_were_measured(
    past: Past, tmp_path: Path, bare_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A user's own settings hold what the tests need; without it they fail in the run that is judged."""
    bare_settings(bare_home, "", WORDS="two")
    needed = 'import os\n\nassert os.environ["WORDS"] == "two"\n'
    past.commit("Ask for words", {"tests/conftest.py": needed})
    tests = f"{CHANGED_TESTS}\n\ndef test_last_of_three():\n    assert last(['a', 'b', 'c']) == 'c'\n    assert quiet('A') == 'a'\n"
    quiet = '\n\ndef quiet(text):\n    """Lower case."""\n    return text.lower()\n'
    past.commit("Add quiet()", {
        "kit.py": CHANGED + quiet, "tests/test_kit.py": tests.replace("last, loud", "last, loud, quiet"),
    })  # fmt: skip

    done = run(["eval", "replay", str(past.folder), "--last", "1", "--out", str(tmp_path / "replays")])

    assert done == 0, capfd.readouterr().out


def test_work_that_is_not_honest_is_refused_and_named(
    past: Past, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The commit answers by a table of what its test asks: the replay must not turn a trick into a delivery."""
    answers = "    return {('a', 'b'): 'b', ('x', 'y', 'z'): 'z'}[tuple(words)]\n"
    past.git("checkout", "-q", "HEAD~1")
    past.commit(
        "Add last()", {"kit.py": CHANGED.replace("    return words[-1]\n", answers), "tests/test_kit.py": CHANGED_TESTS}
    )
    out = tmp_path / "replays"

    assert run(["eval", "replay", str(past.folder), "--last", "1", "--out", str(out)]) == 4

    (row,) = recorded(out)
    assert (row.outcome, row.stage) == ("refused", "green")
    assert row.rules
    assert "1 commits replayed, 0 delivered, 1 refused (100 %)" in summary_lines([row])[0]
    assert "refused in green by" in capfd.readouterr().out
