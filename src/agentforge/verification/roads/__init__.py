"""What is measured of a change that runs as before: documents, types and settings, each on a road of its own."""
