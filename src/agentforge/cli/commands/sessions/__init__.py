"""Commands for conversations with the agent: one prompt from the command line, and the sessions on disk."""
