"""Files that are derived from the log."""
