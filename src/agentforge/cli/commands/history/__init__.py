"""Commands that look at a task afterwards: its steps, its costs, and how it plays again or compares with another one."""
