"""The pipeline: stages as data, pure decisions over measured facts, and the few effects that carry them out."""
