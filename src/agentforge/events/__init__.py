"""The vocabulary of a run: events (kinds), their JSON form (codec), the state they fold to (state, evolve). Pure."""
