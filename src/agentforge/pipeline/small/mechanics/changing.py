"""From a mechanical request to its plan. Pure."""

from __future__ import annotations

from agentforge.pipeline.small.mechanics.asking import Wanted
from agentforge.pipeline.small.mechanics.deleting import deletion
from agentforge.pipeline.small.mechanics.edits import Unclear
from agentforge.pipeline.small.mechanics.moving import move
from agentforge.pipeline.small.mechanics.planning import Plan, located, shown_places
from agentforge.pipeline.small.mechanics.project import Project, unread_mentions
from agentforge.pipeline.small.mechanics.signatures import new_signature


def plan_of(project: Project, wanted: Wanted, *, choice: str = "") -> Plan | None:
    """What a mechanical change makes of a project; None when the words mean no code of it.

    Args:
        choice: what a person answered where several things could be meant.
    Raises:
        Unclear: the tree alone cannot make the change; the message says why.
    """
    targets = located(project, wanted, choice=choice)
    if not targets:
        return None
    unread = unread_mentions(project, [one.name.rpartition(".")[2] or one.source.module for one in targets])
    if unread:
        raise Unclear(f"{targets[0].shown} may be used where the code cannot be read: {shown_places(unread)}")
    if wanted.what == "delete":
        return deletion(project, targets)
    if wanted.what == "move":
        return move(project, wanted, targets)
    return new_signature(project, wanted, targets[0])
