"""Findings in the formats of other tools."""
