"""How words are joined."""

JOINER = "-"
