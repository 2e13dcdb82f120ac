"""Go: its test runner and its failure messages."""
