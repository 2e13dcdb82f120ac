"""The plain face: line by line, for pipes, dumb terminals and people who like it quiet."""
