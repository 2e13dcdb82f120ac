"""Commands of the queue: its workers, and what puts tasks into it."""
