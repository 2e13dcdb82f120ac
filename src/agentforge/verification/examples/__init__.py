"""Examples whose results are known, evaluated on the delivered tree in plain processes."""
