"""What programs do with their arguments: which files they read, write or run."""
