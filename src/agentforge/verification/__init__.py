"""Facts that decide about a stage's work, each measured by execution or read from source."""
