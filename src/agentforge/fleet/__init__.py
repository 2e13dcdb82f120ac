"""Many tasks at once: a queue in a database, and workers that drive what stands in it."""
