"""What a command prints: progress, summaries, errors and the words for both."""
