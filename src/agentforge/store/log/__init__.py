"""The log of a run: appending, reading, leases, and looking at damage."""
