"""Interactive sessions: turns, their log, approvals, checkpoints, instructions and what a person sees."""
