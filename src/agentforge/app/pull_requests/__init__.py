"""Pull requests of delivered tasks: opening, checking and reviewing them."""
