"""What the git tools share: one way to call git on the repository of a conversation, and revisions that are no options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentforge.errors import RepositoryError
from agentforge.toolbox import _files
from agentforge.tools.base import ToolError, failed

if TYPE_CHECKING:
    from agentforge.tools.base import ToolContext
    from agentforge.workspace.git import Git

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


def revision(context: ToolContext, name: str) -> str:
    """Turn a revision into the id of a commit.

    Raises:
        ToolError: there is none of that name.
    """
    try:
        return repository(context).resolve(name or "HEAD")
    except RepositoryError as exc:
        raise ToolError(failed(str(exc), error_type="not-found", next_actions=(exc.hint,) if exc.hint else ())) from exc
