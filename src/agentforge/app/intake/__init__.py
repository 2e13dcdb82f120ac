"""Where requests come from and who is notified: files, issues, repositories, messages."""
