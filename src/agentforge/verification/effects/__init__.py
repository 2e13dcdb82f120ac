"""What a result depends on beside its arguments, and what a call does beside returning its result."""
