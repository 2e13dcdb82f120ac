"""Pure functions over text and paths: what may be shown, what may be written."""
