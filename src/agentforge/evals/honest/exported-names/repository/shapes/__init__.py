"""Shapes in the plane."""
