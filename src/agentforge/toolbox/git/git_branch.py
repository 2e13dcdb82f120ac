"""The tool git_branch: list, create, switch to or delete branches; all but listing needs approval."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import text
from agentforge.toolbox.git import _git
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    action, name = text(arguments, "action"), text(arguments, "name")
    if action == "list":
        return _listed(context)
    if not name or name.startswith("-"):
        raise ToolError(failed(f"{action} needs the name of a branch", error_type="bad-arguments"))
    start = text(arguments, "start")
    given = {
        "create": ("switch", "--quiet", "--create", name, *((_git.revision(context, start),) if start else ())),
        "switch": ("switch", "--quiet", name),
        "delete": ("branch", "--quiet", "--delete", name),
    }[action]
    _git.change(context, *given)
    told = {"create": "created and switched to", "switch": "switched to", "delete": "deleted"}[action]
    return Observation(status="success", summary=f"{told} {name}")


def _listed(context: ToolContext) -> Observation:
    form = "--format=%(HEAD) %(refname:short) %(objectname:short) %(contents:subject)"
    given = _git.repository(context).command.output("branch", "--no-color", form).decode("utf-8", "replace")
    return Observation(status="success", summary=f"{len(given.splitlines())} branches", text=given)


TOOL = Tool(
    name="git_branch",
    description="List, create, switch to or delete a branch.",
    parameters=takes("action", action={"enum": ["list", "create", "switch", "delete"]}, name=TEXT, start=TEXT),
    effect="network",  # never done twice
    does="git-write",
    acts=lambda arguments: "git-read" if arguments.get("action") == "list" else "git-write",
    run=_run,
)
