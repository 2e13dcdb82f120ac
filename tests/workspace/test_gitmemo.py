"""What git said of an object is asked once; names that move, refusals and large answers are asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.workspace.git.command import GitCommand, GitMemo, is_object_id
from agentforge.workspace.git.newrepo import commit_everything, init_repository
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed


@pytest.fixture
def git(tmp_path: Path) -> Git:
    (tmp_path / "a.txt").write_text("one\n")
    init_repository(tmp_path, message="base")
    return Git(tmp_path)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    run = GitCommand.run

    def counted(self: GitCommand, *arguments: str, **options: object) -> Completed:
        made.append(arguments[0])
        return run(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(GitCommand, "run", counted)
    return made


def answer(text: bytes, *, exit_code: int = 0) -> Completed:
    return Completed(exit_code=exit_code, output=text, omitted_bytes=0, duration_s=0.0, timed_out=False)


def test_a_file_of_a_commit_is_read_once(git: Git, calls: list[str]) -> None:
    commit = git.found_at
    assert [git.show(commit, "a.txt") for _ in range(3)] == [b"one\n"] * 3
    assert [git.tree_of(commit) for _ in range(3)] == [git.tree_of(commit)] * 3
    assert calls == ["cat-file", "rev-parse"]


def test_a_file_that_a_commit_has_not_is_looked_for_once_and_one_that_is_lost_again(git: Git, calls: list[str]) -> None:
    commit = git.found_at
    assert [git.show(commit, "missing.txt") for _ in range(3)] == [None] * 3
    assert calls == ["cat-file", "ls-tree", "rev-parse"]
    blob = git.command.output("rev-parse", f"{commit}:a.txt").decode().strip()
    lost = git.common_dir / "objects" / blob[:2] / blob[2:]
    lost.rename(git.top / "kept")
    assert git.show(commit, "a.txt") is None
    (git.top / "kept").rename(lost)
    assert git.show(commit, "a.txt") == b"one\n"


def test_the_files_of_a_tree_are_listed_once(git: Git, calls: list[str]) -> None:
    tree = git.tree_of("HEAD")
    calls.clear()
    assert git.list_files(tree) == git.list_files(tree) == ["a.txt"]
    assert calls == ["ls-tree"]


def test_a_list_that_is_too_large_for_the_memo_is_asked_for_once_and_belongs_to_who_asked(
    git: Git, calls: list[str]
) -> None:
    for number in range(2000):
        (git.top / f"{number:04}{'x' * 100}.txt").touch()
    tree = git.dirty_snapshot(git.common_dir / "private-index")
    calls.clear()
    first = git.list_files(tree)
    first.clear()
    assert len(git.list_files(tree)) == 2001
    assert calls == ["ls-tree"]


def test_a_name_that_moves_is_asked_anew(git: Git) -> None:
    before = git.tree_of("main")
    assert git.show("main", "a.txt") == b"one\n"
    (git.top / "a.txt").write_text("two\n")
    commit_everything(git.top, message="change")
    assert git.show("main", "a.txt") == b"two\n"
    assert git.tree_of("main") != before


def test_changes_between_two_trees_are_listed_once(git: Git, calls: list[str]) -> None:
    (git.top / "a.txt").write_text("two\n")
    commit_everything(git.top, message="change")
    after = git.resolve("main")
    assert git.changed(git.found_at, after) == git.changed(git.found_at, after)
    assert [change.path for change in git.changed(git.found_at, "main")] == ["a.txt"]
    assert calls.count("diff-tree") == 2


def test_a_file_that_is_not_there_is_asked_for_again() -> None:
    memo = GitMemo()
    memo.hold(("cat-file",), answer(b"", exit_code=128), for_ever=False)
    assert memo.held(("cat-file",)) is None


def test_the_oldest_answers_make_room() -> None:
    memo = GitMemo(limit_bytes=2500)
    for name in "abc":
        memo.hold((name,), answer(b"x" * 500), for_ever=True)
    assert [name for name in "abc" if memo.held((name,))] == ["b", "c"]


def test_a_large_answer_is_not_kept() -> None:
    memo = GitMemo()
    memo.hold(("big",), answer(b"x" * (1 << 20)), for_ever=True)
    assert memo.held(("big",)) is None


@pytest.mark.parametrize(
    ("rev", "whole"), [("a" * 40, True), ("0" * 64, True), ("a" * 12, False), ("HEAD", False), ("g" * 40, False)]
)
def test_only_a_whole_id_names_an_object(rev: str, whole: bool) -> None:
    assert is_object_id(rev) is whole
