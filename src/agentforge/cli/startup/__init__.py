"""From the command line to a command: entry, options, streams, and what is loaded when."""
