"""A repository and a runtime over it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentforge.config.contract_files import contract_set
from agentforge.models.stand_ins.scripted import ScriptedModel
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.stages import load_stages
from agentforge.store.blobs import Blobs
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import choose

FILES = {
    "kit/__init__.py": "",
    "kit/text.py": '"""Texts."""\n\nLIMIT = 80\n\n\nclass Shout:\n    def loud(self) -> str:\n        return "A  B"\n\n\ndef shout(text: str) -> str:\n    return text.upper()\n',
    "kit/macro.xyz": "defmacro slugify here\n",
    "tests/test_text.py": "from kit.text import shout\n\n\ndef test_shout():\n    assert shout('a') == 'A'\n",
    "ünder/ä.txt": "one\n",
}


def git_call(folder: Path, *arguments: str) -> str:
    """Run git as a user would."""
    settings = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit; nobody writes into it."""
    root = tmp_path_factory.mktemp("repository").resolve() / "my kit"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    git_call(root, "init", "-q", "-b", "main")
    git_call(root, "add", "-A")
    git_call(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def runtime(base: Path, tmp_path: Path) -> Callable[..., Runtime]:
    """Make a runtime on a copy of the repository, with the builtin contracts and a scripted model."""

    def make(replies: list[Any] | None = None, **changes: Any) -> Runtime:
        root = tmp_path / "work"
        shutil.copytree(base, root)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        script = tmp_path / "script.yaml"
        script.write_text(yaml.safe_dump(replies or []))
        model = ScriptedModel(script)
        git = Git.open(root)
        made = Runtime(
            repo=root, worktree=root, scratch=scratch, git=git, ready=lambda: None,
            guard=Guard(git, root, index=scratch / "index"), sandbox=choose("auto"), stages=load_stages(),
            contracts=contract_set(None), blobs=Blobs(tmp_path / "blobs"), rig=_no_rig, models=lambda _stage: model,
            price=lambda _reply: None, secrets=(), checks={}, trail=lambda: ("h" * 64, 12), diff=git.diff, nonce="n",
            supplied={}, max_output_tokens=1000, temperature=None,
        )  # fmt: skip
        return replace(made, **changes)

    return make


def _no_rig() -> Any:
    raise AssertionError("no tests are run here")
