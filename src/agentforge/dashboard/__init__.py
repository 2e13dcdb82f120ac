"""The dashboard: tasks of many repositories in a browser, from the same use cases as the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.dashboard.ground import Registered, Repository, named_repositories
    from agentforge.dashboard.server import ServeOptions, serve
else:
    __getattr__ = front(
        __name__, {"ground": ("Registered", "Repository", "named_repositories"), "server": ("ServeOptions", "serve")}
    )

__all__ = ["Registered", "Repository", "ServeOptions", "named_repositories", "serve"]
