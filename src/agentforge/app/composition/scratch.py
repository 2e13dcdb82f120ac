"""Where a task keeps what is neither its worktree nor its record."""

from __future__ import annotations

from pathlib import Path


def scratch_of(worktree: Path) -> Path:
    """Where a task keeps fresh checkouts and its private index: beside the worktree, never inside."""
    return worktree.with_name(f"{worktree.name}.scratch")
