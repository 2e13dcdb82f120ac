"""The tools of a session: built-in, of servers, and of the project."""
