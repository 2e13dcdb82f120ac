"""Connections to providers: HTTP, sockets and server-sent events."""
