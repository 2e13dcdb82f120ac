"""Shapes in the plane."""

from shapes.round import Circle
from shapes.straight import Square

__all__ = ["Circle", "Square"]
