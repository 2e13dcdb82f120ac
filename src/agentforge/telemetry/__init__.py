"""What a run tells collectors: spans, metrics and log lines, made from its events."""
