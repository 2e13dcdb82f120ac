"""Reading a request by its form: examples, names, wishes that no example shows."""
