"""Putting a run together: settings, models, sandbox, hooks and provenance become one runtime."""
