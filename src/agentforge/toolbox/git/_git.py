"""What the git tools share: one way to call git on the repository of a conversation, and revisions that are no options."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentforge.errors import RepositoryError
from agentforge.toolbox import _files
from agentforge.tools.base import ToolContext, ToolError, failed
from agentforge.workspace.git.command import call_as_user
from agentforge.workspace.git.repository import Git

PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color")


def repository(context: ToolContext) -> Git:
    """The repository that the tools look at.

    Raises:
        ToolError: there is none.
    """
    if context.git is None:
        raise ToolError(failed("there is no git repository with a commit here", error_type="no-repository"))
    return context.git


def output(context: ToolContext, *arguments: str, paths: Sequence[str] = ()) -> str:
    """Run git for reading and return what it printed; paths are relative to the workspace.

    Raises:
        ToolError: git refused.
    """
    try:
        given = repository(context).command.output(*arguments, "--", *within(context, paths))
    except RepositoryError as exc:
        raise ToolError(failed(str(exc), error_type="git")) from exc
    return given.decode("utf-8", "surrogateescape")


def within(context: ToolContext, paths: Sequence[str]) -> list[str]:
    """Paths of the workspace as the repository's top names them; none at all is the workspace itself.

    Raises:
        ToolError: one lies outside the workspace.
    """
    top = repository(context).top
    targets = [_files.place(context, path) for path in paths] or [context.root.resolve()]
    return [":(top)" if target == top else f":(top,literal){os.path.relpath(target, top)}" for target in targets]


def change(context: ToolContext, *arguments: str) -> None:
    """Run git with the user's own configuration, hooks off.

    Raises:
        ToolError: git refused; its own words are in it.
    """
    done = call_as_user(arguments, cwd=repository(context).top)
    if done.exit_code == 0:
        return
    words = (done.stderr or done.output).decode("utf-8", "replace").strip()
    lines = [line for line in words.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "no message")
    raise ToolError(failed(f"git refused: {told[:170]}", error_type="git", text=words))


def revision(context: ToolContext, name: str) -> str:
    """Turn a revision into the id of a commit.

    Raises:
        ToolError: there is none of that name.
    """
    try:
        return repository(context).resolve(name or "HEAD")
    except RepositoryError as exc:
        raise ToolError(failed(str(exc), error_type="not-found", next_actions=(exc.hint,) if exc.hint else ())) from exc
