"""Agents of other makers as guests: spoken to by the Agent Client Protocol, behind our walls, within limits."""
