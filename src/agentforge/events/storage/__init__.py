"""How events are written: encoding, blobs and marks of views."""
