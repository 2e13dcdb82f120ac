"""What people read about a run: pure functions from state and events to plain values and YAML text. Writes nothing."""
