"""A case is one file: what it says, and its files as texts; what is wrong in it is told with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.errors import AgentForgeError, UsageError
from agentforge.evals.case import FOLDER, Case, FileTree, playable, read_base, read_case
from agentforge.evals.corpus import case_names, honest_names
from agentforge.evals.ground import EvalFixture
from agentforge.workspace.git.repository import Git

_PROGRAMS_FOR_OTHERS = {"judge.py", "tasks.py"}  # `eval export` writes them as they are


def test_data_of_the_evaluations_is_no_module() -> None:
    data = ("attacks", "bases", "cheats", "honest", "injections", "sets")
    found = [path.name for name in data for path in (FOLDER / name).rglob("*.py")]
    assert set(found) <= _PROGRAMS_FOR_OTHERS


def test_every_case_is_one_file() -> None:
    for kind, names in (("cheats", case_names()), ("honest", honest_names())):
        files = (path.relative_to(FOLDER / kind).as_posix() for path in (FOLDER / kind).rglob("*") if path.is_file())
        assert {name for name in files if "__pycache__" not in name} == {f"{name}.yaml" for name in names}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: a\nfiles: [a.py]\n", "`files` is not a mapping"),
        ("title: a\nfiles: {/repository/a.py: x}\n", "'/repository/a.py' is not a relative path with a text"),
        ("title: a\nfiles: {repository/../a.py: x}\n", "is not a relative path with a text"),
        ("title: a\nfiles: {repository//a.py: x}\n", "is not a relative path with a text"),
        ("title: a\nfiles: {repository/a.py: 7}\n", "'repository/a.py' is not a relative path with a text"),
        ("title: a\nfiles: {repository/a: x, repository/a/b: x}\n", "'repository/a' is a file and a folder"),
        ("title: a\nfiles: {repositry/a.py: x}\n", "nothing reads the file repositry/a.py"),
        ("title: a\nfiles: {answers: x}\n", "nothing reads the file answers"),
        ("title: a\ntilte: b\n", r"unknown keys \['tilte'\]"),
        ("files: {repository/a.py: x}\n", r"missing keys \['title'\]"),
        ("- title\n", "is not a mapping"),
        ("title: [\n", "line 2"),
    ],
)
def test_a_file_that_is_no_case_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(AgentForgeError, match=said) as caught:
        read_case(path, needed=("title",), optional=())
    assert str(path) in caught.value.message and caught.value.hint


def test_a_base_that_is_not_there_is_told() -> None:
    with pytest.raises(AgentForgeError, match=r"textkid\.yaml does not exist"):
        read_base("textkid")


def test_an_answer_that_is_no_yaml_is_told_with_its_case_and_its_place() -> None:
    tree = FileTree(source="mine.yaml", texts={"answers/spec.yaml": "title: [\n", "answers/red.yaml": "- a\n"})
    with pytest.raises(AgentForgeError, match=r"mine\.yaml: answers/spec\.yaml line 2"):
        tree.below("answers").mapping("spec.yaml")
    with pytest.raises(AgentForgeError, match=r"mine\.yaml: answers/red\.yaml is not a mapping"):
        tree.below("answers").mapping("red.yaml")
    assert tree.below("answers").mapping("green.yaml") == {}


def test_files_are_written_byte_by_byte_and_older_commits_lie_below(tmp_path: Path) -> None:
    """Nothing of an older commit stays where the repository does not have it, and line ends are those of the case."""
    case = Case(
        name="mine",
        title="",
        base=FileTree(
            texts={"repository/a.py": "base\n", "repository/deep/b.txt": "no end", "answers/spec.yaml": "a: 1"}
        ),
        files=FileTree(texts={"repository/a.py": "own\r\n", "history/1/a.py": "old\n", "history/1/gone.py": ""}),
        request="",
    )
    ground = EvalFixture(folder=tmp_path)
    ground.lay(case)
    files = {path: (ground.repo / path).read_bytes() for path in ("a.py", "deep/b.txt")}
    assert files == {"a.py": b"own\r\n", "deep/b.txt": b"no end"}
    git = Git(ground.repo)
    assert git.diff(git.tree_of("HEAD~1"), git.tree_of("HEAD")).count("diff --git") == 2
    assert not (ground.repo / "gone.py").exists()


def test_cases_that_this_machine_cannot_play_are_told_with_what_is_missing() -> None:
    fine = Case(name="fine", title="", base=FileTree(), files=FileTree(), request="")
    lacking = Case(
        name="far", title="", base=FileTree(), files=FileTree(), request="", needs="agentforge-no-such-program"
    )
    chosen, reasons = playable([fine, lacking])
    assert (chosen, list(reasons)) == (("fine",), ["far"])
    with pytest.raises(UsageError, match="far: agentforge-no-such-program cannot be started"):
        playable([lacking])
