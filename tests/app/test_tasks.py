"""Starting a task: nothing is left behind of one that could not begin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentforge.app.tasks.runs import start
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.settings import load
from agentforge.errors import ContractInvalid, UsageError


def begin(repo: Path, tmp_path: Path, request: str = "add slugify") -> None:
    script = tmp_path / "script.yaml"
    script.write_text("[]\n")
    environ = dict(os.environ)
    settings = load(repo, environ)
    options = StartOptions(request=request, cwd=repo, model=f"scripted/{script}")
    start(options, settings=settings, environ=environ, watch=lambda _event, _state: None)


def test_a_task_whose_contracts_cannot_be_read_leaves_no_folder(repo: Path, tmp_path: Path) -> None:
    own = repo / ".agentforge" / "contracts" / "specification.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("contract: [\n")
    with pytest.raises(ContractInvalid):
        begin(repo, tmp_path)
    assert list((repo / ".agentforge" / "tasks").iterdir()) == []


@pytest.mark.parametrize(("request_text", "word"), [("  \n", "empty"), ("x" * 1_000_001, "1000001 characters")])
def test_a_request_of_the_wrong_size_creates_nothing(repo: Path, tmp_path: Path, request_text: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        begin(repo, tmp_path, request_text)
    assert not (repo / ".agentforge").exists()
