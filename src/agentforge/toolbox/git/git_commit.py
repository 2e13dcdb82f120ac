"""The tool git_commit: commit files of the workspace in the user's own repository, after approval; hooks do not run."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import flag, text, texts
from agentforge.toolbox.git import _git
from agentforge.tools.base import FLAG, TEXT, TEXTS, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    message, paths = text(arguments, "message").strip(), texts(arguments, "paths")
    if not message:
        raise ToolError(failed("the message is empty; nothing was committed", error_type="bad-arguments"))
    if paths:
        _git.change(context, "add", "--", *_git.within(context, paths))
    elif flag(arguments, "all"):
        _git.change(context, "add", "--all", "--", *_git.within(context, ()))
    only = ("--only", "--", *_git.within(context, paths)) if paths else ()
    _refuse_nothing(context, paths)
    _git.change(
        context, "-c", "commit.gpgSign=false", "commit", "--quiet", "--no-verify", f"--message={message}", *only
    )
    head = _git.revision(context, "HEAD")
    return Observation(
        status="success",
        summary=f"committed {head[:10]}: {message.splitlines()[0][:120]}",
        text=_git.output(context, "show", "--no-show-signature", "--stat", "--format=%h %an%n%B", head),
    )


def _refuse_nothing(context: ToolContext, paths: tuple[str, ...]) -> None:
    names = _git.output(context, "diff", "--cached", "--name-only", *_git.PLAIN_DIFF, paths=paths)
    if not names.strip():
        raise ToolError(
            failed(
                "nothing is staged; nothing was committed",
                error_type="no-change",
                next_actions=("name the files in paths, or set all",),
            )
        )


TOOL = Tool(
    name="git_commit",
    description="Commit what is staged, these paths, or all.",
    parameters=takes("message", message=TEXT, paths=TEXTS, all=FLAG),
    effect="network",  # like what leaves the machine, a commit is never made twice
    does="git-write",
    run=_run,
)
