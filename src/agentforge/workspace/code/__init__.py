"""The code of a workspace as a map: symbols, outlines, and what is relevant to a request."""
