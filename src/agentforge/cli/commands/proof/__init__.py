"""Commands that prove what a task did: verify, sign, and write it down for others."""
