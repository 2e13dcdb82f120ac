"""The sandbox: bubblewrap or landlock, mounts, limits, network, and the probe that tries to escape."""
