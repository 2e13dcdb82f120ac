"""Commands that measure AgentForge and models on known cases, and the demonstration."""
