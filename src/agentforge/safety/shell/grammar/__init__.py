"""Reading a shell command: words, quoting, flow, options, and doubts about the reading."""
