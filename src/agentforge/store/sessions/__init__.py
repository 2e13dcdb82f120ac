"""The folders of sessions, their import and export."""
