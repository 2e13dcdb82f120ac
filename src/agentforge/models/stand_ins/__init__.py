"""Models without a provider: scripted, recorded, and a human at the keyboard."""
