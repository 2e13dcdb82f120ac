"""Reading the web: fetching, extracting text, and a browser."""
