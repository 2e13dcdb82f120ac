"""AgentForge as an MCP server: other agents hand work over, follow it, answer its questions, and ask for proof."""
