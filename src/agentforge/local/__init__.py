"""A model on this machine: the catalogue of known ones, getting a file, and the server that answers from it."""
