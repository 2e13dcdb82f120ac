"""What a stage's model is shown: excerpts, tests, the specification, and the situation of its next step."""
