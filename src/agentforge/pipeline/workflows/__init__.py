"""Workflows beside the main one: repairing violations, and splitting a request."""
