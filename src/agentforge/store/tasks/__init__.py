"""The folders of tasks in a repository, and their memory."""
