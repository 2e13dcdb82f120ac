"""The test suite of a project: finding it, running it in its environment, and counting what it reports."""
