"""Generating code in small steps: prompts, drafts, trials on the examples, and rendering files."""
