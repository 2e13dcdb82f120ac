"""Commands that set AgentForge up: models, settings, permissions, trust, and what it may load."""
