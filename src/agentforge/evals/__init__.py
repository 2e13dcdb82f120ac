"""Evaluations of AgentForge itself: what it must refuse, and what it must let through."""
