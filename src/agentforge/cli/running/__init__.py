"""What several commands share while a run goes on: following, detaching, asking, queueing."""
