"""Tools for the course of the work: asking, planning, remembering and submitting."""
