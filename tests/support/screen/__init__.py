"""A real terminal around the program, and pictures of what it shows."""
