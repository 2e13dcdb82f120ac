"""Replaying a recorded run without a model."""
