"""Text that passes borders: redaction, hygiene, and marking what comes from outside."""
