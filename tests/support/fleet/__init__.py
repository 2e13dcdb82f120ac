"""The queue in a time of its own, and whether its histories can be explained."""
