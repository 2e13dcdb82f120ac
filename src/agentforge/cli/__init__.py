"""The command line: flags in, screens and exit codes out. Nothing is decided here; commands are imported on demand."""
