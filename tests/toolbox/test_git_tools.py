"""Proves the git tools on a real repository: what they show, what they change, and what they do not run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.safety.policy.modes import Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext
from agentforge.tools.dispatch.approval import decide_tool
from agentforge.tools.dispatch.invocation import InvocationPolicy, invoke
from agentforge.workspace.git.repository import Git

Ask = Callable[..., Observation]
_SETTINGS = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *_SETTINGS, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repo(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "Ann")
        monkeypatch.setenv(f"{name}_EMAIL", "ann@example.org")
    _git(project, "config", "user.name", "Ann")
    _git(project, "config", "user.email", "ann@example.org")
    _git(project, "add", "-A")
    _git(project, "commit", "-q", "-m", "first: everything")
    return project


@pytest.fixture
def ask(repo: Path, context: ToolContext) -> Ask:
    def call(tool: str, **arguments: object) -> Observation:
        mine = replace(context, git=Git.open(repo))
        policy = InvocationPolicy(text_limit_tokens=4000)
        return invoke(tool, json.dumps(arguments), tools=find([tool]), context=mine, policy=policy).observation

    return call


def test_status_tells_the_branch_and_every_changed_file(repo: Path, ask: Ask) -> None:
    (repo / "README.md").write_text("changed\n")
    (repo / "neu ü.txt").write_text("new\n")
    seen = ask("git_status")
    assert seen.summary.endswith("2 changed files")
    assert " M README.md" in seen.text and "neu ü.txt" in seen.text


def test_log_show_and_blame_tell_history(repo: Path, ask: Ask) -> None:
    (repo / "README.md").write_text("changed\n")
    _git(repo, "commit", "-q", "-am", "second: readme")
    assert [line.split(": ", 1)[1] for line in ask("git_log").text.splitlines()] == [
        "second: readme",
        "first: everything",
    ]
    assert "1 commits; the first 1 are shown" in ask("git_log", limit=1).summary
    assert "+changed" in ask("git_show").text
    assert ask("git_show", revision="HEAD~1", path="README.md").text == "# Shapes\n\nAreas of shapes.\n"
    assert "Ann" in ask("git_blame", path="README.md").text


def test_a_revision_is_never_an_option(ask: Ask, tmp_path: Path) -> None:
    target = tmp_path / "stolen"
    seen = ask("git_log", revision=f"--output={target}")
    assert (seen.status, target.exists()) == ("error", False)
    assert ask("git_show", revision="no-such-thing").error_type == "not-found"


def test_diff_shows_what_is_staged_or_only_what_git_knows(repo: Path, ask: Ask) -> None:
    (repo / "README.md").write_text("staged\n")
    _git(repo, "add", "README.md")
    (repo / "shapes" / "area.py").write_text("not staged\n")
    (repo / "untracked.txt").write_text("x\n")
    staged, known = ask("git_diff", staged=True).text, ask("git_diff", include_untracked=False).text
    assert "+staged" in staged and "not staged" not in staged
    assert "+staged" in known and "+not staged" in known and "untracked" not in known
    assert ask("git_diff", staged=True, max_bytes=20).text.endswith("bytes omitted")


def test_a_commit_takes_the_named_files_and_runs_no_hook(repo: Path, ask: Ask) -> None:
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ntouch hook-ran\nexit 1\n")
    hook.chmod(0o755)
    (repo / "README.md").write_text("mine\n")
    (repo / "new.txt").write_text("new\n")
    (repo / "other.txt").write_text("other\n")
    seen = ask("git_commit", message="docs: say it", paths=["README.md", "new.txt"])
    assert seen.status == "success", seen.text
    assert _git(repo, "show", "--format=%s", "--name-only").split() == ["docs:", "say", "it", "README.md", "new.txt"]
    assert not (repo / "hook-ran").exists() and "?? other.txt" in _git(repo, "status", "--porcelain")


def test_nothing_staged_is_said_and_all_takes_everything(repo: Path, ask: Ask) -> None:
    assert ask("git_commit", message="nothing").error_type == "no-change"
    (repo / "more.txt").write_text("x\n")
    assert ask("git_commit", message="all of it", all=True).status == "success"
    assert _git(repo, "status", "--porcelain") == ""


def test_branches_are_made_switched_to_listed_and_deleted(repo: Path, ask: Ask) -> None:
    first = _git(repo, "branch", "--show-current").strip()
    ask("git_branch", action="create", name="feature/x")
    assert _git(repo, "branch", "--show-current").strip() == "feature/x"
    assert f"  {first}" in ask("git_branch", action="list").text
    ask("git_branch", action="switch", name=first)
    assert ask("git_branch", action="delete", name="feature/x").status == "success"
    assert ask("git_branch", action="create", name="--orphan").error_type == "bad-arguments"


def test_a_folder_outside_of_a_repository_is_said(context: ToolContext) -> None:
    seen = invoke("git_status", "{}", tools=find(["git_status"]), context=context, policy=InvocationPolicy())
    assert seen.observation.error_type == "no-repository"


@pytest.mark.parametrize(
    ("tool", "arguments", "verdicts"),
    [
        ("git_status", {}, "allow allow"),
        ("git_show", {"revision": "HEAD"}, "allow allow"),
        ("git_commit", {"message": "x"}, "ask deny"),
        ("git_branch", {"action": "list"}, "allow allow"),
        ("git_branch", {"action": "create", "name": "x"}, "ask deny"),
        ("memory", {"action": "get", "key": "x"}, "allow allow"),
        ("memory", {"action": "set", "key": "x", "value": "y"}, "ask deny"),
        ("web_fetch", {"url": "https://example.org"}, "ask deny"),
        ("web_search", {"query": "x"}, "ask deny"),
    ],
)
def test_looking_needs_no_approval_and_changing_does(tool: str, arguments: Mapping[str, object], verdicts: str) -> None:
    ground = PathPolicy(root="/w", folder="/w", home="/home/x", real=lambda path: path)
    found = [
        decide_tool(find([tool])[tool], arguments, Policy(mode=mode, ground=ground)).verdict
        for mode in (Mode.ON_REQUEST, Mode.NEVER)
    ]
    assert " ".join(found) == verdicts
