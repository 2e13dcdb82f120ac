"""Where a run lives on disk: its log, its blobs, its lease, and the views beside them. Nobody else writes these."""
