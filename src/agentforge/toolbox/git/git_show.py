"""The tool git_show: one commit with its changes, or a file as it was in a commit."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import text
from agentforge.toolbox.git import _git
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    commit = _git.revision(context, text(arguments, "revision"))
    path = text(arguments, "path")
    if path:
        return _file(context, commit, path)
    given = _git.output(
        context,
        "show",
        "--no-show-signature",
        *_git.PLAIN_DIFF,
        "--format=%h %ad %an%n%n%B",
        "--stat",
        "--patch",
        commit,
    )
    return Observation(status="success", summary=f"commit {commit[:10]}", text=given)


def _file(context: ToolContext, commit: str, path: str) -> Observation:
    git = _git.repository(context)
    data = git.show(commit, os.path.relpath(_files.place(context, path), git.top))
    if data is None:
        raise ToolError(failed(f"{path} is no file of commit {commit[:10]}", error_type="not-found"))
    if b"\0" in data[:8000]:
        raise ToolError(failed(f"{path} is binary ({len(data):,} bytes)", error_type="binary", retryable=False))
    return Observation(
        status="success", summary=f"{path} in commit {commit[:10]}", text=data.decode("utf-8", "replace")
    )


TOOL = Tool(
    name="git_show",
    description="A commit, or a file in it.",
    parameters=takes(revision=TEXT, path=TEXT),
    effect="read",
    does="git-read",
    run=_run,
)
