"""The artifacts of an honest model, made from a diff: files, symbols, tests with their kinds, and the calls that write them."""

from __future__ import annotations

from agentforge.evals.history.commits import History, HistoryCommit
from agentforge.evals.history.evidence import HistoryEvidence
from agentforge.evals.history.honest import HonestWork
from tests.support.past import Past

KIT = "LIMIT = 3\n\n\ndef first(words):\n    return words[0]\n\n\ndef old():\n    return 1\n"
NEW = "LIMIT = 3\n\n\ndef first(words):\n    return words[0] or None\n\n\ndef last(words):\n    return words[-1]\n"
TESTS = "def test_first():\n    assert 1\n\n\ndef test_old():\n    assert 1\n"
NEW_TESTS = "def test_first():\n    assert 2\n\n\ndef test_last():\n    assert 1\n"


def _work(past: Past) -> HonestWork:
    past.commit("base", {"kit.py": KIT, "gone.py": "a = 1\n", "tests/test_kit.py": TESTS, "tests/test_gone.py": TESTS})
    past.remove("gone.py")
    past.remove("tests/test_gone.py")
    past.commit("feat: last() (#3)", {"kit.py": NEW, "tests/test_kit.py": NEW_TESTS, "CHANGES.md": "last() is new\n"})
    history = History(past.folder)
    commit = next(history.read())
    assert isinstance(commit, HistoryCommit)
    evidence = HistoryEvidence(
        files={"tests/test_kit.py": NEW_TESTS},
        run=("tests/test_kit.py",),
        targets=("tests/test_kit.py::test_last[1]",),
        guards=("tests/test_kit.py::test_last[2]", "tests/test_kit.py::test_first"),
    )
    return HonestWork(commit=commit, history=history, evidence=evidence)


def _draft(work: HonestWork, stage: str) -> dict:  # type: ignore[type-arg] # a draft of any shape
    (reply,) = work.stages()[stage]
    return dict(reply["tool_calls"][-1]["args"]["artifact"])


def test_the_specification_names_exactly_what_the_diff_touches(history: Past) -> None:
    work = _work(history)
    spec = _draft(work, "spec")

    assert spec["description"] == "Last()"
    assert spec["files_to_modify"] == ["gone.py", "kit.py"]
    assert spec["files_to_create"] == ["CHANGES.md"]
    changes = {(one["file"], one["name"]): one["change"] for one in spec["symbols"]}
    assert changes == {
        ("gone.py", "a"): "removed",
        ("kit.py", "first"): "changed",
        ("kit.py", "old"): "removed",
        ("kit.py", "last"): "new",
        ("tests/test_gone.py", "test_first"): "removed",
        ("tests/test_gone.py", "test_old"): "removed",
        ("tests/test_kit.py", "test_first"): "changed",
        ("tests/test_kit.py", "test_old"): "removed",
    }
    assert [one["verification_method"] for one in spec["requirements"]] == ["test", "inspection"]


def test_tests_have_the_kinds_that_were_measured_row_by_row_where_they_differ(history: Past) -> None:
    (file,) = _draft(_work(history), "red")["test_files"]
    assert file["path"] == "tests/test_kit.py"
    assert {(one["name"], one["kind"]) for one in file["tests"]} == {
        ("test_last[1]", "target"), ("test_last[2]", "guard"), ("test_first", "guard"),
    }  # fmt: skip


def test_the_files_are_written_as_the_commit_leaves_them(history: Past) -> None:
    work = _work(history)
    calls = [(one["name"], one["args"]) for one in work.stages()["green"][0]["tool_calls"]]
    assert {args["path"]: args["content"] for name, args in calls if name == "write_file"} == {
        "CHANGES.md": "last() is new\n", "kit.py": NEW,
    }  # fmt: skip
    assert [args["command"] for name, args in calls if name == "shell"] == ["rm -- gone.py"]


def test_work_without_a_test_that_asks_for_it_only_guards(history: Past) -> None:
    work = _work(history)
    guarding = HonestWork(
        commit=work.commit, history=work.history, evidence=HistoryEvidence(files={}, guards=work.evidence.guards)
    )
    assert work.action == "modify"
    assert guarding.action == "refactor"
