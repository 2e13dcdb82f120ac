"""Stages from outside: stages that a project adds, and agents of other makers that do a stage's work."""
