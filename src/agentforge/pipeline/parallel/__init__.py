"""Work of several runs for one request: independent candidates, and results that arrive from other runs."""
