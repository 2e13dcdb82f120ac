"""Pull requests at a forge: GitHub or GitLab, through `gh`, `glab` or their REST API. What is in one is decided elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.forges.forge import CiCheck, Forge, Pull, standing
    from agentforge.forges.github import GitHub
    from agentforge.forges.gitlab import GitLab
    from agentforge.forges.place import place_of
    from agentforge.forges.wire import open_wire
else:
    __getattr__ = front(
        __name__,
        {
            "forge": ("CiCheck", "Forge", "Pull", "standing"),
            "github": ("GitHub",),
            "gitlab": ("GitLab",),
            "place": ("place_of",),
            "wire": ("open_wire",),
        },
    )

__all__ = ["CiCheck", "Forge", "GitHub", "GitLab", "Pull", "open_wire", "place_of", "standing"]
