"""Connections to providers: HTTP, sockets, server-sent events and recorded tapes."""
