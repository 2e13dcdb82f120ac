"""Recorded runs: inspecting, replaying, forking, comparing and pricing them."""
