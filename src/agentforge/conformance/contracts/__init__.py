"""Contracts that are written beside the code."""
