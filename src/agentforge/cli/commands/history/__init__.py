"""Commands that look at a task afterwards: its steps, its costs, and the same task played again or beside another one."""
