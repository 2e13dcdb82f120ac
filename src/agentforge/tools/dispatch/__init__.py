"""Carrying out a tool call: arguments, approval, hooks, invocation."""
