"""What a session has around it beside model and tools: its project, instructions, memory, skills, subagents.

What a project brings and a conversation goes without, because nobody agreed to it: told when the conversation begins.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.composition.project import Project
from agentforge.app.sessions.instructions import Guidance
from agentforge.app.sessions.skill_activation import Skills
from agentforge.app.subagents.delegation import Subagents
from agentforge.config.paths import data_dir, project_tops
from agentforge.config.steering_files import OF_A_CONVERSATION, OF_OTHER_AGENTS
from agentforge.config.trust import trusted
from agentforge.store.tasks.memory import UserAndProjectMemory
from agentforge.tools.base import Tool, ToolContext

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

    pass
    pass
    pass
    pass


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
        if self._workshop.options.bare:
            return {}
        tools = self.subagents.tools()
        if allowed is None:
            return tools
        return {name: tool for name, tool in tools.items() if any(fnmatchcase(name, one) for one in allowed)}

    def reaching(self, context: ToolContext) -> ToolContext:
        """The reach of tools with memory, instructions of sub-folders, and the folders of active skills."""
        return replace(context, memory=self.memory, guides=self.guidance.guides, readable=self.skills.readable())


_SHOWN = 8
_OF_A_BARE_ONE = ("hook", "environment")


def left_out(root: Path, environ: Mapping[str, str], *, bare: bool = False) -> tuple[str, ...]:
    """Name the files and settings of the project that a conversation in a folder does not use.

    Instructions of inner folders are not looked for here; they are told when the conversation meets them.

    Args:
        bare: the conversation uses the fewest parts of a project.
    """
    kinds = _OF_A_BARE_ONE if bare else OF_A_CONVERSATION
    pending = [
        one for top in project_tops(root, environ) for one in trusted(top, environ, kinds=("mcp",)).pending(kinds)
    ]
    return tuple(dict.fromkeys(one.name for one in pending if one.name not in OF_OTHER_AGENTS))


def words_about(names: tuple[str, ...]) -> str:
    """The same in one line for people, with the command that changes it; "" where nothing is left out."""
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"you have not agreed to what this project brings, so it is left out: {', '.join(names[:_SHOWN])}{more}."
        " Look at it, then run `agentforge trust`"
    )
