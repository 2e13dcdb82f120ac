"""Commands for tasks: start them, look at them, answer them, and end or clean up after them."""
