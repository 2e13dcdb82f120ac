"""Telling people outside: what to tell, when, and by which way."""
