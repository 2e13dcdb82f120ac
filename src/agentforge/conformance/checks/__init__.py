"""One file, one check: the file's name is the check's name, and it exposes `CHECK`. Nothing registers them."""
