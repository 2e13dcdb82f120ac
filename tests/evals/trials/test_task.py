"""Tasks as data: the project's own set is whole, and what is wrong in a folder is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ConfigError, UsageError
from agentforge.evals.case import write_files
from agentforge.evals.trials.export import export
from agentforge.evals.trials.play import _check_out
from agentforge.evals.trials.solution import script_of
from agentforge.evals.trials.task import read_task, task_of
from agentforge.evals.trials.task_pool import playable
from agentforge.evals.trials.task_sets import chosen, load_set
from agentforge.workspace.git.newrepo import commit_everything, init_repository

OWN = load_set("own").tasks


def test_the_set_covers_every_action_and_every_expectation() -> None:
    assert len(OWN) >= 30
    assert {task.action for task in OWN} == {"create", "modify", "delete", "refactor", "fix", "analyze"}
    assert {task.expected for task in OWN} == {"right", "must-ask", "must-escalate", "analyzed"}
    assert sum(task.examples for task in OWN) >= 20
    assert len(playable(OWN, ["scripted:wrong"])) >= 3


def test_every_task_has_an_honest_answer_and_no_run_is_given_its_hidden_tests() -> None:
    for task in OWN:
        script = json.dumps(script_of(task, task.answers["honest"]))
        assert "submit_artifact" in script
        assert not set(task.hidden) & {*task.repository, *task.given}
        assert not any(text in script for text in task.hidden.values())


def test_a_task_survives_the_way_to_its_process() -> None:
    assert all(task_of(json.loads(json.dumps(task.value))) == task for task in OWN)


def test_tasks_are_chosen_by_name_pattern_action_and_expectation() -> None:
    names = [task.name for task in chosen(OWN, only=["fix-pages", "ask-*"])]
    assert names == ["ask-discount", "ask-limit", "ask-rounding", "ask-sort", "fix-pages"]
    assert {task.action for task in chosen(OWN, only=["action=delete"])} == {"delete"}
    assert [task.name for task in chosen(OWN, only=["expected=analyzed"], limit=1)] == ["analyze-what-raises"]
    with pytest.raises(UsageError) as caught:
        chosen(OWN, only=["fix-page"])
    assert caught.value.hint == "did you mean fix-pages?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("request: a\naction: fix\nfiles: {a.py: x}\n", "nothing judges a delivery"),
        ("request: a\naction: mend\n", "'mend' is not known"),
        ("request: a\naction: analyze\nexpected: analyzed\nfiles: {a.py: x}\n", "nothing judges the report"),
        ("request: a\naction: fix\nexpectd: right\n", r"unknown keys \['expectd'\]"),
        ("action: fix\n", r"missing keys \['request'\]"),
        ("request: a\naction: fix\nbase: gone\nexpected: must-ask\n", "no base 'gone'"),
        ("request: a\naction: fix\nexpected: must-ask\n", "there is no repository"),
        ("request: a\naction: fix\nfiles: {../a.py: x}\nexpected: must-ask\n", "is not a relative path with a text"),
    ],
)
def test_a_folder_that_is_no_task_says_why(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "task.yaml").write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_task(tmp_path / "task.yaml")


def test_a_task_is_the_same_as_one_file_and_as_a_folder(tmp_path: Path) -> None:
    set_ = tmp_path / "set"
    told = "request: a\naction: fix\nbase: shop-1.2\n"
    texts = {
        "bases/shop-1.2.yaml": "files: {a.py: A = 1}\n",
        "bases/room/a.py": "A = 1",
        "one.yaml": f"{told}files: {{b.py: B}}\nhidden: {{test_a.py: x}}\nanswers: {{honest: {{goal: g}}, wrong: {{criteria: []}}}}\n",
        "two/task.yaml": told.replace("shop-1.2", "room"),
        "two/repository/b.py": "B",
        "two/hidden/test_a.py": "x",
        "two/answers/honest.yaml": "goal: g\n",
        "two/answers/wrong.yaml": "criteria: []\n",
    }
    write_files(texts, set_)
    one, two = load_set(str(set_)).tasks
    assert one.repository == {"a.py": "A = 1", "b.py": "B"}
    assert one.answers["wrong"] == {"goal": "g", "criteria": []}
    assert (one.name, replace(one, name="two")) == ("one", two)


def test_a_task_may_be_one_file_above_a_repository_of_this_machine(tmp_path: Path) -> None:
    repo, folder = tmp_path / "repo", tmp_path / "set" / "one"
    repo.mkdir()
    folder.mkdir(parents=True)
    (repo / "calc.py").write_text("A = 1\n")
    init_repository(repo, message="base")
    (repo / "calc.py").write_text("A = 2\n")
    commit_everything(repo, message="the solution")
    (folder / "task.yaml").write_text(
        "request: A should be 2\naction: fix\nsource: ../../repo@HEAD~1\nfiles: {b.py: 'B = 1'}\nhidden: {test_a.py: 'x'}\n"
    )
    (task,) = load_set(str(tmp_path / "set")).tasks
    assert (dict(task.repository), dict(task.hidden)) == ({"b.py": "B = 1"}, {"test_a.py": "x"})
    _check_out(task.source, tmp_path / "new")
    assert (tmp_path / "new" / "calc.py").read_text() == "A = 1\n"
    assert not (tmp_path / "new" / ".git").exists()
    with pytest.raises(UsageError, match="not part of the task"):
        export([task], tmp_path / "out", form="inspect", set_name="set")
