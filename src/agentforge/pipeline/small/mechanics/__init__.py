"""Changes that the syntax tree carries out alone: deleting, moving, another signature. No model is asked."""
