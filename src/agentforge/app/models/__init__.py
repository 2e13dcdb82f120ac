"""Models as a use case: probing, grading and suggesting them."""
