"""Ruby with minitest."""
