"""The composition root and the use cases: the only place that looks parts up and wires them together."""
