"""The vocabulary of the pipeline: stages, effects, limits, scope, the runtime it is given, and the baseline."""
