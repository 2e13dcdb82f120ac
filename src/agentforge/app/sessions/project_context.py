"""What a session has around it beside model and tools: its project, instructions, memory, skills, subagents."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from agentforge.app.composition.project import Project
from agentforge.app.sessions.instructions import Guidance
from agentforge.app.sessions.skill_activation import Skills
from agentforge.app.subagents.delegation import Subagents
from agentforge.config.paths import data_dir
from agentforge.store.tasks.memory import UserAndProjectMemory

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

    pass
    pass
    pass
    pass
    from agentforge.tools.base import Tool, ToolContext


class ProjectContext:
    """The parts, each made when it is first needed.

    Attributes:
        project: what may be used of the project, and what was left out.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self.project = Project(workshop.root, settings=workshop.settings, environ=workshop.environ)

    @cached_property
    def guidance(self) -> Guidance:
        """What user and project tell every agent."""

        return Guidance(self._workshop)

    @cached_property
    def memory(self) -> UserAndProjectMemory:
        """What is remembered across sessions."""

        return UserAndProjectMemory(data_dir(self._workshop.environ), project=self.project.tops[0])

    @cached_property
    def skills(self) -> Skills:
        """The skills that are known."""

        return Skills(self._workshop)

    @cached_property
    def subagents(self) -> Subagents:
        """The subagents that can be started."""

        return Subagents(self._workshop)

    def offered(self, tools: dict[str, Tool]) -> dict[str, Tool]:
        """The tools that skills leave, and those of the swarm."""
        return {**self.skills.narrowed(tools), **self.subagents.swarm_tools()}

    def delegating(self, allowed: Collection[str] | None) -> dict[str, Tool]:
        """The tools that start subagents.

        Args:
            allowed: names or patterns of the tools that may be offered at all, None = all.
        """
        from fnmatch import fnmatchcase

        if self._workshop.options.bare:
            return {}
        tools = self.subagents.tools()
        if allowed is None:
            return tools
        return {name: tool for name, tool in tools.items() if any(fnmatchcase(name, one) for one in allowed)}

    def reaching(self, context: ToolContext) -> ToolContext:
        """The reach of tools with memory, instructions of sub-folders, and the folders of active skills."""
        from dataclasses import replace

        return replace(context, memory=self.memory, guides=self.guidance.guides, readable=self.skills.readable())
