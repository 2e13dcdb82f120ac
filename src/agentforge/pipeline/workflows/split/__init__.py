"""The workflow of `start --split`: planning parts, and starting them."""
