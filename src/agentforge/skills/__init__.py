"""Skills: folders with a SKILL.md that tells an agent how a kind of work is done. Found, checked and matched; never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.skills.catalogue import Catalogue, SkillMatch, find_skills, matching
    from agentforge.skills.skill import FILE, Skill, SkillInvalid, problems, read_body, read_skill
else:
    __getattr__ = front(
        __name__,
        {
            "catalogue": ("Catalogue", "SkillMatch", "find_skills", "matching"),
            "skill": ("FILE", "Skill", "SkillInvalid", "problems", "read_body", "read_skill"),
        },
    )

__all__ = [
    "FILE",
    "Catalogue",
    "Skill",
    "SkillInvalid",
    "SkillMatch",
    "find_skills",
    "matching",
    "problems",
    "read_body",
    "read_skill",
]
