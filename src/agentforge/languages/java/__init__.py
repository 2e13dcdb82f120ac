"""Java: projects, test runners, reports and failure messages."""
