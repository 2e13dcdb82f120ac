"""Refactorings of Python by syntax tree: moving, renaming and deleting symbols, changing signatures. No model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.python_refactoring.change import plan_of
    from agentforge.python_refactoring.edits import Unclear
    from agentforge.python_refactoring.plan import Open, RefactoringPlan
    from agentforge.python_refactoring.project import PythonProject, member_references, module_references, references
    from agentforge.python_refactoring.project_files import contents, diff_of, read_project
    from agentforge.python_refactoring.removal import definitions
    from agentforge.python_refactoring.request import RefactoringRequest, What, wanted_from
    from agentforge.workspace.git.repository import Read
else:
    __getattr__ = front(
        __name__,
        {
            "change": ("plan_of",),
            "edits": ("Unclear",),
            "plan": ("Open", "RefactoringPlan"),
            "project": ("PythonProject", "member_references", "module_references", "references"),
            "project_files": ("Read", "contents", "diff_of", "read_project"),
            "removal": ("definitions",),
            "request": ("RefactoringRequest", "What", "wanted_from"),
        },
    )

__all__ = [
    "Open",
    "PythonProject",
    "Read",
    "RefactoringPlan",
    "RefactoringRequest",
    "Unclear",
    "What",
    "contents",
    "definitions",
    "diff_of",
    "member_references",
    "module_references",
    "plan_of",
    "read_project",
    "references",
    "wanted_from",
]
