"""AgentForge as an MCP server: other agents hand work over, follow it, answer its questions, and ask for proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.mcp_server.ground import Ground
    from agentforge.mcp_server.server import HttpOptions, serve_http, serve_stdio
else:
    __getattr__ = front(__name__, {"ground": ("Ground",), "server": ("HttpOptions", "serve_http", "serve_stdio")})

__all__ = ["Ground", "HttpOptions", "serve_http", "serve_stdio"]
