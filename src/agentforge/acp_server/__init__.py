"""AgentForge in an editor: the Agent Client Protocol, version 1, over standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.acp_server.server import serve
else:
    __getattr__ = front(__name__, {"server": ("serve",)})

__all__ = ["serve"]
