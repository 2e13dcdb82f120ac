"""What the source of a change shows by itself: suppressions, vacuous tests, changed checks, public names."""
