"""Git: objects, snapshots, worktrees, remotes and restoring files."""
