"""From a mechanical request to its plan. Pure."""

from __future__ import annotations

from agentforge.python_refactoring.deletion import deletion
from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.move import move
from agentforge.python_refactoring.plan import RefactoringPlan, located, shown_places
from agentforge.python_refactoring.project import PythonProject, unread_mentions
from agentforge.python_refactoring.rename import renamed
from agentforge.python_refactoring.request import RefactoringRequest
from agentforge.python_refactoring.signatures import new_signature


def plan_of(project: PythonProject, wanted: RefactoringRequest, *, choice: str = "") -> RefactoringPlan | None:
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
    if wanted.what == "rename" and not wanted.parameter:
        return renamed(project, targets[0], wanted.new)
    return new_signature(project, wanted, targets[0])
