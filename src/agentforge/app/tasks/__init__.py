"""The life of a task: creating, driving, answering, stopping, waiting for others, and what follows its end."""
