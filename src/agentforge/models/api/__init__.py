"""What a model is to the rest of the program: asking it, its catalogue entry, prices and limits."""
