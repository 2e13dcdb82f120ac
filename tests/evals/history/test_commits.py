"""Reading commits: real repositories made by git, one odd commit each."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentforge.errors import RepositoryError, UsageError
from agentforge.evals.history.commits import MOST_FILES, History, HistoryCommit, LeftOut, chosen_commits, role_of
from agentforge.evals.history.requests import action_of
from agentforge.evals.trials.test_files import holds_tests
from tests.support.past import Past


def test_a_change_tells_its_files_their_roles_and_their_lines(history: Past) -> None:
    history.commit("base", {"kit.py": "a = 1\nb = 2\nc = 3\n", "tests/test_kit.py": "x = 1\n", "README.md": "Kit\n"})
    history.commit(
        "Count from two\n\nThe first was never used.",
        {"kit.py": "a = 1\nb = 3\nc = 3\nd = 4\n", "tests/test_kit.py": "x = 1\ny = 2\n", "README.md": "Kit 2\n"},
    )

    (newest, _) = History(history.folder).read()

    assert isinstance(newest, HistoryCommit)
    assert (newest.subject, newest.body) == ("Count from two", "The first was never used.")
    by_path = {one.path: one for one in newest.files}
    assert {path: one.role for path, one in by_path.items()} == {
        "README.md": "document", "kit.py": "code", "tests/test_kit.py": "test",
    }  # fmt: skip
    assert by_path["kit.py"].old_lines == ((2, 2),)
    assert by_path["kit.py"].insertions == (3,)
    assert by_path["kit.py"].new_lines == ((2, 2), (4, 4))
    assert [one.path for one in newest.tests] == ["tests/test_kit.py"]
    assert [one.path for one in newest.products] == ["README.md", "kit.py"]


@pytest.mark.parametrize(
    ("subject", "files", "action"),
    [
        ("Remove duplicated packages", {"kit.py": "a = 1\nb = 3\nc = 3\n"}, "modify"),
        ("Add a guard", {"kit.py": "a = 1\nb = 2\nc = 3\nd = 4\n"}, "modify"),
        ("We need it no more", {"kit.py": "a = 1\nc = 3\n", "README.md": "Kit\n"}, "delete"),
        ("fix: no second line", {"kit.py": "a = 1\nc = 3\n"}, "fix"),
        ("The shop", {"shop.py": "a = 1\n"}, "create"),
        ("Add words", {"README.md": "Kit\n"}, "modify"),
    ],
)
def test_the_action_of_a_commit_is_what_became_of_the_code(
    history: Past, subject: str, files: dict[str, str | bytes], action: str
) -> None:
    history.commit("base", {"kit.py": "a = 1\nb = 2\nc = 3\n", "tests/test_kit.py": "x = 1\n"})
    history.commit(subject, {**files, "tests/test_kit.py": "x = 1\ny = 2\n"})

    newest = next(History(history.folder).read())

    assert isinstance(newest, HistoryCommit) and action_of(newest) == action


def test_a_commit_whose_files_git_cannot_give_is_left_out_and_the_others_are_read(history: Past) -> None:
    history.commit("base", {"kit.py": "a = 1\n", "tests/test_kit.py": "x = 1\n"})
    history.commit("lost", {"kit.py": "a = 2\n", "tests/test_kit.py": "x = 2\n"})
    lost = history.git("rev-parse", "HEAD:kit.py")
    history.commit("kept", {"kit.py": "a = 3\n", "tests/test_kit.py": "x = 3\n"})
    history.commit("kept, too", {"kit.py": "a = 4\n", "tests/test_kit.py": "x = 4\n"})
    (history.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()

    told = [one.reason if isinstance(one, LeftOut) else "" for one in History(history.folder).read()]

    assert told == ["", "partial", "partial", "root"]


def test_a_pattern_for_doctests_makes_no_test_of_a_module_that_defines_none(history: Past) -> None:
    client = 'class Client:\n    def test_connection(self):\n        """\n        >>> 1\n        1\n        """\n'
    check = "def test_here():\n    assert True\n"
    files = {"kit/mod.py": client, "kit/check.py": check, "tests/test_kit.py": "x = 1\n", "tests/data.py": "x = 1\n"}
    history.commit("base", {**files, "setup.cfg": "[tool:pytest]\npython_files = *.py\naddopts = --doctest-modules\n"})
    history.commit("change", {path: f"{text}\n\nZ = 2\n" for path, text in files.items()})
    history.commit("product alone", {"kit/mod.py": "a = 1\n"})

    left, newest, _ = History(history.folder).read()

    assert isinstance(newest, HistoryCommit) and isinstance(left, LeftOut)
    assert left.reason == "no-tests"
    assert {one.path: one.role for one in newest.files} == {
        "kit/mod.py": "code", "kit/check.py": "test", "tests/test_kit.py": "test", "tests/data.py": "test",
    }  # fmt: skip
    assert not holds_tests("kit/mod.py", client, ["*.py"]) and holds_tests("kit/check.py", check, ["*.py"])
    assert not holds_tests("tests/conftest.py", "", ["*.py"]) and holds_tests("tests/test_kit.py", "", ["*.py"])


def test_a_renamed_file_is_one_change_with_both_paths(history: Past) -> None:
    text = "".join(f"line_{number} = {number}\n" for number in range(20))
    history.commit("base", {"old.py": text, "tests/test_it.py": "a = 1\n"})
    history.remove("old.py")
    history.commit("rename", {"new.py": text, "tests/test_it.py": "a = 2\n"})

    newest = next(History(history.folder).read())

    assert isinstance(newest, HistoryCommit)
    assert [(one.status, one.old_path, one.path) for one in newest.products] == [("renamed", "old.py", "new.py")]


def test_each_commit_that_is_no_task_is_left_out_with_its_reason(history: Past) -> None:
    history.commit("first", {"kit.py": "a = 1\n", "tests/test_kit.py": "x = 1\n"})
    history.commit("code alone", {"kit.py": "a = 2\n"})
    history.commit("tests alone", {"tests/test_kit.py": "x = 2\n"})
    history.commit("locked", {"package-lock.json": "{}\n"})
    history.commit("picture", {"logo.png": b"\x89PNG\0\0", "tests/test_kit.py": "x = 3\n"})
    history.commit("flood", {f"parts/p{number}.py": "a = 1\n" for number in range(MOST_FILES + 1)})
    history.commit("nothing", {})
    history.branch("side")
    history.commit("beside", {"kit.py": "a = 4\n", "tests/test_kit.py": "x = 4\n"})
    history.git("checkout", "-q", "main")
    history.commit("meanwhile", {"other.py": "a = 1\n", "tests/test_other.py": "x = 1\n"})
    history.git("merge", "-q", "--no-ff", "-m", "joined", "side")

    read = list(History(history.folder).read())

    assert {one.subject: one.reason for one in read if isinstance(one, LeftOut)} == {
        "first": "root", "code alone": "no-tests", "tests alone": "only-tests", "locked": "generated", "picture": "binary",
        "flood": "too-large", "nothing": "empty", "joined": "merge",
    }  # fmt: skip
    assert {one.subject for one in read if isinstance(one, HistoryCommit)} == {"beside", "meanwhile"}
    assert all(one.message for one in read if isinstance(one, LeftOut))


def test_what_is_kept_is_said_by_who_reads(history: Past) -> None:
    history.commit("first", {"kit.py": "a = 1\n"})
    history.commit("code alone", {"kit.py": "a = 2\n"})

    newest = next(History(history.folder).read(keep=frozenset({"no-tests"})))

    assert isinstance(newest, HistoryCommit)


def test_the_end_of_a_shallow_clone_is_no_first_commit(history: Past, tmp_path: Path) -> None:
    history.commit("first", {"kit.py": "a = 1\n"})
    history.commit("second", {"kit.py": "a = 2\n"})
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{history.folder}", str(tmp_path / "shallow")],
        check=True, env=history.environ,
    )  # fmt: skip

    (only,) = History(tmp_path / "shallow").read()

    assert isinstance(only, LeftOut)
    assert only.reason == "shallow"


def test_a_submodule_that_moves_leaves_the_commit_out(history: Past) -> None:
    history.commit("first", {"tests/test_kit.py": "a = 1\n"})
    history.git("update-index", "--add", "--cacheinfo", f"160000,{history.head()},part")
    history.git("commit", "-q", "-m", "part")

    newest = next(History(history.folder).read())

    assert isinstance(newest, LeftOut)
    assert newest.reason == "submodule"


def test_a_file_that_becomes_a_link_keeps_the_others_lines(history: Past) -> None:
    history.commit("first", {"a.py": "a = 1\n", "z.py": "z = 1\n", "tests/test_z.py": "z = 1\n"})
    history.remove("a.py")
    (history.folder / "a.py").symlink_to("z.py")
    history.commit("link", {"z.py": "z = 2\n", "tests/test_z.py": "z = 2\n"})

    newest = next(History(history.folder).read())

    assert isinstance(newest, HistoryCommit)
    assert {one.path: one.new_lines for one in newest.files}["z.py"] == ((1, 1),)


def test_a_bare_repository_is_read_and_named_commits_come_in_their_order(history: Past, tmp_path: Path) -> None:
    history.commit("first", {"kit.py": "a = 1\n", "tests/test_kit.py": "x = 1\n"})
    history.commit("second", {"kit.py": "a = 2\n", "tests/test_kit.py": "x = 2\n"})
    history.commit("third", {"kit.py": "a = 3\n", "tests/test_kit.py": "x = 3\n"})
    subprocess.run(
        ["git", "clone", "-q", "--bare", str(history.folder), str(tmp_path / "bare")], check=True, env=history.environ
    )
    bare = History(tmp_path / "bare")

    assert [one.subject for one in bare.read(shas=("HEAD~1", "HEAD"))] == ["second", "third"]
    assert [one.subject for one in bare.read(last=1)] == ["third"]
    assert bare.text("HEAD", "kit.py") == "a = 3\n"
    assert bare.text("HEAD", "none.py") is None


def test_what_is_no_repository_or_no_commit_is_refused(history: Past, tmp_path: Path) -> None:
    history.commit("first", {"kit.py": "a = 1\n"})
    with pytest.raises(RepositoryError, match="not a git repository"):
        History(tmp_path)
    with pytest.raises(RepositoryError, match="not a folder"):
        History(tmp_path / "none")
    with pytest.raises(RepositoryError, match="no commit 'gone'"):
        list(History(history.folder).read(shas=("gone",)))
    with pytest.raises(UsageError, match="names no commits"):
        chosen_commits("a..b")
    assert chosen_commits("a, b c") == ("a", "b", "c")


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/kit.py", "code"), ("kit.test.ts", "test"), ("tests/data/a.json", "test"), ("CHANGES.rst", "document"),
        ("setup.cfg", "configuration"), ("vendor/x/y.go", "generated"), ("Cargo.lock", "generated"),
        ("src/__snapshots__/a.snap", "test"), ("pkg/testdata/x.golden", "test"), ("fixtures/a.json", "test"),
        ("fixtures/load.py", "code"), ("kit/tests.py", "test"),
    ],
)  # fmt: skip
def test_a_role_is_told_by_the_path(path: str, role: str) -> None:
    assert role_of(path) == role
