"""What the source of a change shows by itself: suppressions, changed checks, public names."""
