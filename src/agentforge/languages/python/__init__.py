"""Python: how its tests are found and run, and what its modules import."""
