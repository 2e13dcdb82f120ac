"""AgentForge: a request becomes a verified branch. This file holds the version and imports nothing."""

__version__ = "0.2.0"
