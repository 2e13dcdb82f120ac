"""What a step must not change, and what happens to changes that nobody ordered."""
